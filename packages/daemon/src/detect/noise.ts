/**
 * Parts of a page that differ without meaning anything, found by looking and ignored from then on until the user says
 * otherwise. A part is one of
 * - `words`: a line with holes, such as "Viewed by ⟨…⟩ people";
 * - `lines`: whatever stands between two given lines, such as a rotating advertisement;
 * - `field`: a field of the items of a list, such as `views`.
 *
 * A difference is noise when it shows again in a second look that was asked for because of it, moments after (once for
 * what is volatile by its form: numbers, dates, marks; twice for prose that is replaced in place); or when it shows at
 * nearly every look and is volatile or returns to values seen before. New prose at every look is news, however often it
 * comes, and so is what a page was asked to show in a few lines: noise is looked for only on pages with more.
 *
 * A candidate's score rises by one with each look that differs there and halves when looks in between did not.
 */
import { hash } from 'node:crypto';
import { alignStrings } from './align.ts';
import { wordRuns } from './difference.ts';
import type { ItemDifference } from './items.ts';
import { isVolatile, machineryWords } from './volatile.ts';
import { words } from './words.ts';

export interface NoisePart {
  readonly id: string;
  readonly kind: 'words' | 'lines' | 'field';
  /** `words`: the fixed pieces, with a hole between each two. `lines`: the lines before and after. `field`: its name. */
  readonly pattern: readonly string[];
  /** `words` with too little fixed text to be told apart by: the line before. */
  readonly below?: string;
  /** `lines`: how many have been seen there at most. */
  readonly linesMax?: number;
  /** What stood there when it was found. */
  readonly example: string;
  readonly why: 'differs between looks moments apart' | 'differs at nearly every look';
  readonly sinceMs: number;
  /** The user wants it watched after all. */
  readonly watched?: true;
}

/** What may turn out to be noise. How it is recognised is in its key; kept with every page, so it is kept short. */
export interface Candidate {
  readonly score: number;
  readonly lastMs: number;
  /** Fingerprints of the last values, newest last. */
  readonly values: readonly string[];
  readonly returns: number;
  readonly momentsApart: number;
  readonly volatile: boolean;
  readonly held: boolean;
}

export interface NoiseState {
  readonly parts: readonly NoisePart[];
  readonly candidates: Readonly<Record<string, Candidate>>;
}

export const emptyNoise: NoiseState = { parts: [], candidates: {} };

/** A second look that came later than this says nothing: the page may have had a new edition. */
const momentsMs = 120_000;
/** How soon the look comes that tells noise from news. */
export const secondLookMs = 20_000;
const volatileScoreMin = 6;
const returningScoreMin = 4;
/** On a page of fewer lines, what changes is what it is there for. */
export const noiseLinesMin = 12;
const valuesMax = 8;
/** More noise than this and the page itself is noise: its user should select a part. */
const partsMax = 100;
const candidatesMax = 40;
/** An inserted text longer than this is no counter and no banner. */
const holeCharactersMax = 300;
const slotLinesMax = 40;

const print = (text: string) => hash('sha256', text, 'base64url').slice(0, 10);
const hole = '⟨…⟩';

export interface Sighting {
  readonly key: string;
  readonly kind: NoisePart['kind'];
  readonly pattern: readonly string[];
  readonly below?: string;
  readonly linesMax?: number;
  readonly value: string;
  readonly example: string;
  readonly volatile: boolean;
  /** Beside words such as "viewed by": likely machinery, worth a second look before telling. */
  readonly machinery: boolean;
  /** Something was there before and is there now: a replacement, not an addition. */
  readonly inPlace: boolean;
}

/** Lines with what is ignored made equal. */
export function masked(lines: readonly string[], noise: NoiseState): readonly string[] {
  const active = noise.parts.filter((part) => !part.watched);
  if (active.length === 0) return lines;
  const templates = active.filter((part) => part.kind === 'words');
  const slots = active.filter((part) => part.kind === 'lines');
  let out = templates.length > 0 ? lines.map((line, i) => maskedLine(line, lines[i - 1], templates)) : lines;
  for (const slot of slots) out = maskedSlot(out, slot);
  return out;
}

function maskedLine(line: string, above: string | undefined, templates: readonly NoisePart[]): string {
  for (const { pattern, below } of templates) {
    if (below !== undefined && below !== (above ?? '')) continue;
    if (fits(line, pattern)) return pattern.join(hole);
  }
  return line;
}

/** Whether the line is the pieces in order with short runs between them. */
export function fits(line: string, pieces: readonly string[]): boolean {
  const first = pieces[0];
  const last = pieces[pieces.length - 1];
  if (!line.startsWith(first) || !line.endsWith(last) || line.length < first.length + last.length) return false;
  let at = first.length;
  const end = line.length - last.length;
  for (let i = 1; i < pieces.length - 1; i++) {
    const found = line.indexOf(pieces[i], at);
    if (found < 0 || found + pieces[i].length > end || found - at > holeCharactersMax) return false;
    at = found + pieces[i].length;
  }
  return end - at <= holeCharactersMax;
}

function maskedSlot(lines: readonly string[], slot: NoisePart): readonly string[] {
  const [before, after] = slot.pattern;
  const most = Math.min(slotLinesMax, 2 * (slot.linesMax ?? 1));
  const out: string[] = [];
  for (let i = before === '' ? -1 : 0; i < lines.length; i++) {
    if (i >= 0) out.push(lines[i]);
    if (i >= 0 ? lines[i] !== before : before !== '') continue;
    for (let j = i + 1; j <= Math.min(lines.length, i + 1 + most); j++) {
      if (j < lines.length ? lines[j] !== after : after !== '') continue;
      if (j > i + 1) out.push(hole);
      i = j - 1;
      break;
    }
  }
  return out;
}

/** Where two masked versions differ, as places that can be recognised again. */
export function sightings(old: readonly string[], next: readonly string[]): Sighting[] {
  const hunks = alignStrings(old, next);
  // Beyond this the page was rewritten, which says nothing about noise.
  if (hunks.length > 200) return [];
  const found: Sighting[] = [];
  for (const hunk of hunks) {
    const removed = old.slice(hunk.from, hunk.to);
    const added = next.slice(hunk.newFrom, hunk.newTo);
    const lined = removed.length === added.length ? inLines(removed, added, next, hunk.newFrom) : undefined;
    if (lined) found.push(...lined);
    else found.push(between(removed, added, old[hunk.from - 1] ?? '', old[hunk.to] ?? ''));
  }
  return grouped(found);
}

/** Each line pair with the words that differ; undefined when the lines have too little in common. */
function inLines(
  removed: readonly string[],
  added: readonly string[],
  next: readonly string[],
  at: number,
): Sighting[] | undefined {
  const found: Sighting[] = [];
  for (let i = 0; i < removed.length; i++) {
    const runs = wordRuns(removed[i], added[i]);
    const fixed = runs.filter((run) => run.kind === 'same').map((run) => run.text);
    const gone = runs.filter((run) => run.kind === 'removed').map((run) => run.text);
    const come = runs.filter((run) => run.kind === 'added').map((run) => run.text);
    const volatile = isVolatile(words(gone.join(' '))) && isVolatile(words(come.join(' ')));
    const fixedLetters = fixed.join('').replace(/[^\p{L}]/gu, '').length;
    if (!volatile && fixedLetters < 0.5 * Math.max(removed[i].length, added[i].length)) return undefined;
    const pattern = piecesOf(runs);
    const below = fixedLetters < 3 ? (next[at + i - 1] ?? '') : undefined;
    found.push({
      key: print(JSON.stringify(['words', pattern, below])),
      kind: 'words',
      pattern,
      ...(below === undefined ? {} : { below }),
      value: print(added[i]),
      example: added[i].slice(0, 200),
      volatile,
      machinery: volatile && machineryWords.test(added[i]),
      inPlace: true,
    });
  }
  return found;
}

/** A hole wherever words went or came; what stays is fixed. */
function piecesOf(runs: readonly { readonly kind: string; readonly text: string }[]): string[] {
  const pieces = [''];
  let open = false;
  for (const run of runs) {
    if (run.kind === 'same' && (/\p{L}/u.test(run.text) || !open || run === runs.at(-1))) {
      if (open) pieces.push(run.text);
      else pieces[pieces.length - 1] += run.text;
      open = false;
    } else if (run.kind !== 'same') open = true;
    // Signs between two holes belong to the hole: "12.05." has another number of signs tomorrow.
  }
  if (open) pieces.push('');
  return pieces.map((piece, i) => {
    const after = i > 0 ? piece.replace(/^\S+/, unlessVolatile) : piece;
    return i < pieces.length - 1 ? after.replace(/\S+$/, unlessVolatile) : after;
  });
}

/** The rest of a date or mark of which a part differs: "12:41:" before seconds is another tomorrow, so it belongs to the hole. */
const unlessVolatile = (text: string): string => (isVolatile(words(text)) ? '' : text);

function between(removed: readonly string[], added: readonly string[], before: string, after: string): Sighting {
  return {
    key: print(JSON.stringify(['lines', before, after])),
    kind: 'lines',
    pattern: [before, after],
    linesMax: Math.max(removed.length, added.length),
    value: print(added.join('\n')),
    example: added.join(' / ').slice(0, 200),
    volatile: isVolatile(words(removed.join(' '))) && isVolatile(words(added.join(' '))),
    machinery: false,
    inPlace: removed.length > 0 && removed.length === added.length && removed.length <= slotLinesMax,
  };
}

/** Several lines of one form are one part. */
function grouped(found: readonly Sighting[]): Sighting[] {
  const byKey = new Map<string, Sighting>();
  for (const sighting of found) {
    const other = byKey.get(sighting.key);
    if (!other) byKey.set(sighting.key, sighting);
    else
      byKey.set(sighting.key, {
        ...other,
        value: print(other.value + sighting.value),
        volatile: other.volatile && sighting.volatile,
        machinery: other.machinery && sighting.machinery,
      });
  }
  return [...byKey.values()];
}

export function fieldSightings(change: ItemDifference): Sighting[] {
  const fields = new Map<string, { values: string; volatile: boolean; example: string }>();
  for (const { from, to, fields: names } of change.changed) {
    for (const name of names) {
      const old = JSON.stringify(from[name] ?? null);
      const now = JSON.stringify(to[name] ?? null);
      const volatile = isVolatile(words(old)) && isVolatile(words(now));
      const known = fields.get(name);
      fields.set(name, {
        values: (known?.values ?? '') + now,
        volatile: volatile && (known?.volatile ?? true),
        example: known?.example ?? `${name}: ${now.slice(0, 150)}`,
      });
    }
  }
  return [...fields].map(([name, { values, volatile, example }]) => ({
    key: print(JSON.stringify(['field', name])),
    kind: 'field',
    pattern: [name],
    value: print(values),
    example,
    volatile,
    machinery: volatile && machineryWords.test(name),
    inPlace: true,
  }));
}

export interface Learned {
  readonly noise: NoiseState;
  /** Something new is ignored from now on: compare again. */
  readonly found: boolean;
  /** All that differs is likely machinery and was never looked at twice: tell nothing before the second look. */
  readonly hold: boolean;
  readonly secondLook: boolean;
}

export interface LookTime {
  readonly atMs: number;
  readonly lookedAtMs: number;
  /** This look was asked for by the last one. */
  readonly second: boolean;
}

export function learnNoise(noise: NoiseState, seen: readonly Sighting[], time: LookTime): Learned {
  const { atMs } = time;
  const candidates: Record<string, Candidate> = { ...noise.candidates };
  const parts = [...noise.parts];
  const reversed = new Set(parts.filter((part) => part.watched).map((part) => part.id));
  let found = false;
  let secondLook = false;
  let hold = seen.length > 0;
  for (const sighting of seen) {
    const before = candidates[sighting.key];
    const now = observed(before, sighting, time);
    const why = reversed.has(sighting.key) ? undefined : verdict(now);
    if (why && parts.length < partsMax) {
      found = true;
      delete candidates[sighting.key];
      parts.push(partOf(sighting, why, atMs));
      continue;
    }
    const likely = sighting.machinery && !before && !reversed.has(sighting.key);
    hold &&= likely;
    // One look more is worth it for what differs again and again in place; what stands still then is news.
    secondLook ||= likely || (sighting.inPlace && now.score >= 2 && now.score < 4);
    candidates[sighting.key] = { ...now, held: likely };
  }
  return { noise: { parts, candidates: newest(candidates) }, found, hold: hold && !found, secondLook };
}

function observed(before: Candidate | undefined, sighting: Sighting, time: LookTime): Candidate {
  const { value, volatile, inPlace } = sighting;
  const steady = before !== undefined && before.lastMs >= time.lookedAtMs;
  // Held back at the last look and still the same: it differs from the kept version, but not from that look.
  const stood = before !== undefined && before.held && before.values.at(-1) === value;
  const score = stood ? 0 : (before ? (steady ? before.score : before.score / 2) : 0) + 1;
  const returned = before !== undefined && before.values.slice(0, -1).includes(value);
  // Where telling waits for a second look, any look that comes as soon serves as one.
  const moments = (time.second || before?.held === true) && time.atMs - time.lookedAtMs <= momentsMs;
  const evidence = moments && steady && !stood && inPlace;
  return {
    score,
    lastMs: time.atMs,
    values: [...(before?.values ?? []), value].slice(-valuesMax),
    returns: (before?.returns ?? 0) + (returned ? 1 : 0),
    momentsApart: (before?.momentsApart ?? 0) + (evidence ? 1 : 0),
    volatile: volatile && (before?.volatile ?? true),
    held: false,
  };
}

function verdict({ score, volatile, returns, momentsApart }: Candidate): NoisePart['why'] | undefined {
  if (momentsApart >= (volatile ? 1 : 2)) return 'differs between looks moments apart';
  const often = (volatile && score >= volatileScoreMin) || (returns >= 2 && score >= returningScoreMin);
  return often ? 'differs at nearly every look' : undefined;
}

function partOf(sighting: Sighting, why: NoisePart['why'], sinceMs: number): NoisePart {
  const { key, kind, pattern, below, linesMax, example } = sighting;
  return {
    id: key,
    kind,
    pattern,
    ...(below === undefined ? {} : { below }),
    ...(linesMax === undefined ? {} : { linesMax }),
    example,
    why,
    sinceMs,
  };
}

function newest(candidates: Readonly<Record<string, Candidate>>): Readonly<Record<string, Candidate>> {
  const entries = Object.entries(candidates);
  if (entries.length <= candidatesMax) return candidates;
  return Object.fromEntries(entries.sort(([, a], [, b]) => b.lastMs - a.lastMs).slice(0, candidatesMax));
}

/** The user's word on one part: watch it after all, or ignore it again. */
export function setWatched(noise: NoiseState, id: string, watch: boolean): NoiseState {
  const parts = noise.parts.map((part): NoisePart => {
    if (part.id !== id) return part;
    const { watched: _, ...plain } = part;
    return watch ? { ...plain, watched: true } : plain;
  });
  return { ...noise, parts };
}

export function ignoredFields(noise: NoiseState): ReadonlySet<string> {
  return new Set(noise.parts.filter((part) => part.kind === 'field' && !part.watched).map((part) => part.pattern[0]));
}
