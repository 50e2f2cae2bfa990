/**
 * robots.txt by RFC 9309: which rules a file has for one robot, and whether a path may be visited.
 *
 * The group that names the product token counts (all such groups together), otherwise those for `*`. Of the rules that
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
  let namingAgents = false;
  for (const line of lines(text)) {
    const { key, value } = line;
    if (key === 'user-agent') {
      if (!namingAgents) current = [];
      namingAgents = true;
      const group = agentToken(value) === token ? own : value.trim() === '*' ? others : undefined;
      if (group) {
        group.named = true;
        if (!current.includes(group)) current.push(group);
      }
    } else if (key === 'allow' || key === 'disallow') {
      namingAgents = false;
      const rule = parseRule(key === 'allow', value);
      if (rule) for (const group of current) group.rules.push(rule);
    } else if (key === 'crawl-delay') {
      namingAgents = false;
      const seconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
      if (seconds >= 0) for (const group of current) group.crawlDelayMs = Math.min(crawlDelayMsMax, seconds * 1000);
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
  if (value === '') return undefined;
  const anchored = value.endsWith('$');
  const pattern = canonical(anchored ? value.slice(0, -1) : value);
  if (!pattern.startsWith('/') && !pattern.startsWith('*')) return undefined;
  return { allow, length: pattern.length + (anchored ? 1 : 0), pieces: pattern.split(/\*+/), anchored };
}

/** Both sides in one spelling: unreserved characters plain, everything else escaped in capitals. */
function canonical(text: string): string {
  const escaped = /[^\x21-\x7e]/.test(text) ? encodeLoose(text) : text;
  if (!escaped.includes('%')) return escaped;
  return escaped.replace(/%([0-9a-f]{2})/gi, (whole, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[A-Za-z0-9\-._~]/.test(character) ? character : whole.toUpperCase();
  });
}

function encodeLoose(text: string): string {
  return text.toWellFormed().replace(/[^\x21-\x7e]+/g, (run) => encodeURIComponent(run));
}

export function isAllowed(robots: RobotsRules, pathAndQuery: string): boolean {
  if (robots.rules.length === 0) return true;
  const path = canonical(pathAndQuery);
  if (path === '/robots.txt') return true;
  let best: Rule | undefined;
  for (const rule of robots.rules) {
    const stronger = !best || rule.length > best.length || (rule.length === best.length && rule.allow && !best.allow);
    if (stronger && matches(rule, path)) best = rule;
  }
  return best?.allow ?? true;
}

function matches(rule: Rule, path: string): boolean {
  const { pieces, anchored } = rule;
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
