/**
 * robots.txt by RFC 9309: which rules a file has for one robot, and whether a path may be visited.
 *
 * The group that names the product token counts (all such groups together), otherwise those for `*`. Only a rule ends the
 * naming of agents (2.2.4: other records interfere with no group); a Crawl-delay among the names is for those above it. Of the rules that
 * match, the one with most octets decides, and allow wins a tie; `/robots.txt` itself is always allowed. A pattern is cut at its
 * stars once, and its pieces are sought from left to right, each at its first place: leftmost is always right for this
 * kind of pattern, so no pattern can make the search go back, and matching costs one pass over the path.
 */

export interface RobotsRules {
  readonly rules: readonly Rule[];
  readonly crawlDelayMs?: number;
  readonly sitemaps: readonly string[];
}

interface Rule {
  readonly allow: boolean;
  /** Octets of the pattern: the measure of precedence. */
  readonly length: number;
  /** Pieces between stars; the first must begin the path. */
  readonly pieces: readonly string[];
  /** The same with escapes of reserved characters undone, where there are any. */
  readonly plainPieces?: readonly string[];
  readonly anchored: boolean;
}

/** Longer delays are read as this: a file asking for more than a day between two requests wants nobody at all. */
const crawlDelayMsMax = 86_400_000;
/** Sitemap lines beyond this are ignored: an index file is the way to name many. */
const sitemapsMax = 100;

export const everythingAllowed: RobotsRules = { rules: [], sitemaps: [] };

export function parseRobots(text: string, productToken: string): RobotsRules {
  const token = productToken.toLowerCase();
  const own: Group = { named: false, rules: [] };
  const others: Group = { named: false, rules: [] };
  const sitemaps: string[] = [];
  let current: Group[] = [];
  // Of those, whom a Crawl-delay means: not who was named before an earlier one and has that.
  let delayed: Group[] = [];
  let namingAgents = false;
  let delaySaid = false;
  for (const line of lines(text)) {
    const { key, value } = line;
    if (key === 'user-agent') {
      if (!namingAgents) current = [];
      if (!namingAgents || delaySaid) delayed = [];
      namingAgents = true;
      delaySaid = false;
      const group = agentToken(value) === token ? own : value.trim() === '*' ? others : undefined;
      if (group) {
        group.named = true;
        if (!current.includes(group)) current.push(group);
        if (!delayed.includes(group)) delayed.push(group);
      }
    } else if (key === 'allow' || key === 'disallow') {
      namingAgents = false;
      const rule = parseRule(key === 'allow', value);
      if (rule) for (const group of current) group.rules.push(rule);
    } else if (key === 'crawl-delay') {
      delaySaid = true;
      const seconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
      if (seconds >= 0) for (const group of delayed) group.crawlDelayMs = Math.min(crawlDelayMsMax, seconds * 1000);
    } else if (key === 'sitemap' && sitemaps.length < sitemapsMax) {
      sitemaps.push(value);
    }
  }
  const group = own.named ? own : others;
  return {
    rules: group.rules,
    sitemaps,
    ...(group.crawlDelayMs === undefined ? {} : { crawlDelayMs: group.crawlDelayMs }),
  };
}

interface Group {
  named: boolean;
  readonly rules: Rule[];
  crawlDelayMs?: number;
}

function* lines(text: string): Generator<{ key: string; value: string }> {
  for (const raw of text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)) {
    const hash = raw.indexOf('#');
    const line = hash < 0 ? raw : raw.slice(0, hash);
    const colon = line.indexOf(':');
    if (colon > 0) yield { key: line.slice(0, colon).trim().toLowerCase(), value: line.slice(colon + 1).trim() };
  }
}

/** The product token leads; a version or a comment may follow it. */
const agentToken = (value: string) => /^[a-z_-]+/i.exec(value)?.[0].toLowerCase();

function parseRule(allow: boolean, value: string): Rule | undefined {
  // An empty pattern matches nothing (RFC 9309, 2.2.2: "Disallow:" alone disallows nothing).
  if (!value.startsWith('/') && !value.startsWith('*')) return undefined;
  const anchored = value.endsWith('$');
  const pattern = canonical(anchored ? value.slice(0, -1) : value);
  const pieces = pattern.split(/\*+/);
  const plainPieces = pattern.includes('%') ? plainly(pieces) : pieces;
  // Measured plainly, or of two spellings of one path the longer would win.
  const escapes = lengthOf(pieces) - lengthOf(plainPieces);
  return {
    allow,
    length: pattern.length - escapes + (anchored ? 1 : 0),
    pieces,
    ...(escapes > 0 ? { plainPieces } : {}),
    anchored,
  };
}

const lengthOf = (pieces: readonly string[]): number => pieces.reduce((sum, { length }) => sum + length, 0);

/** Both sides in one spelling: unreserved characters plain, reserved ones as they stand, everything else escaped in capitals. */
function canonical(text: string): string {
  const escaped = /[^\w\-.~:/?#[\]@!$&'()*+,;=]/.test(text) ? escapeForeign(text) : text;
  if (!escaped.includes('%')) return escaped;
  return escaped.replace(/%([0-9a-f]{2})/gi, (whole, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[\w\-.~]/.test(character) ? character : whole.toUpperCase();
  });
}

/** Escapes what no URL holds as it is, and a percent sign that begins no escape. */
function escapeForeign(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\w\-.~:/?#[\]@!$&'()*+,;=%]+/g, (run) => encodeURIComponent(run))
    .replace(/%(?![0-9a-f]{2})/gi, '%25');
}

/**
 * Escapes of reserved characters undone (RFC 9309, 2.2.2 and 2.2.3: `%2A` is the star itself, `?u=https%3A%2F%2Fa` is
 * `?u=https://a`), but for those that would part what is one: a slash or question mark in the path, what separates fields in the query.
 */
function plainly(pieces: readonly string[]): string[] {
  let inQuery = false;
  return pieces.map((piece) => {
    const mark = inQuery ? 0 : piece.indexOf('?');
    if (mark < 0) return piece.replace(/%(3A|5B|5D|40|2[1467-9A-C]|3B|3D)/g, decoded);
    inQuery = true;
    const path = piece.slice(0, mark).replace(/%(3A|5B|5D|40|2[1467-9A-C]|3B|3D)/g, decoded);
    return path + piece.slice(mark).replace(/%(3A|2F|3F|5B|5D|40|2[147-9AC]|3B)/g, decoded);
  });
}

const decoded = (_whole: string, hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));

export function isAllowed(robots: RobotsRules, pathAndQuery: string): boolean {
  if (robots.rules.length === 0) return true;
  const path = canonical(pathAndQuery);
  if (path === '/robots.txt') return true;
  const plainPath = path.includes('%') ? plainly([path])[0]! : path;
  let best: Rule | undefined;
  for (const rule of robots.rules) {
    const stronger = !best || rule.length > best.length || (rule.length === best.length && rule.allow && !best.allow);
    if (!stronger) continue;
    const { pieces, plainPieces = pieces, anchored } = rule;
    // As written first: of a pattern that begins with a star nobody knows whether it means the path or the query.
    if (matches(pieces, anchored, path)) best = rule;
    else if ((plainPath !== path || plainPieces !== pieces) && matches(plainPieces, anchored, plainPath)) best = rule;
  }
  return best?.allow ?? true;
}

function matches(pieces: readonly string[], anchored: boolean, path: string): boolean {
  const first = pieces[0]!;
  if (!path.startsWith(first)) return false;
  if (pieces.length === 1) return !anchored || path.length === first.length;
  let at = first.length;
  for (let index = 1; index < pieces.length - 1; index++) {
    const found = path.indexOf(pieces[index]!, at);
    if (found < 0) return false;
    at = found + pieces[index]!.length;
  }
  const last = pieces.at(-1)!;
  return anchored ? path.length - last.length >= at && path.endsWith(last) : path.indexOf(last, at) >= 0;
}
