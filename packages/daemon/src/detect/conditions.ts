/** Whether what changed since the last told version is worth telling. */
import type { Projection } from '../values/change.ts';
import type { Difference } from './difference.ts';
import { numberIn, percentBetween } from './number.ts';
import type { TellConditions } from './options.ts';
import { contains } from './pattern.ts';

const whole = (value: number) => String(Math.round(value * 100) / 100);

/**
 * Conditions that are met by an event, by name and value. What was told once is told again when it happens again: whoever
 * waits for "in stock" wants the second time too, though it went untold in between. So the versions since the last told one
 * are asked whether the event could happen again from there, and those names are remembered (`ready`).
 */
export function readyFor(conditions: TellConditions, text: string): readonly string[] {
  const { appears, disappears, above, below } = conditions;
  const number = above === undefined && below === undefined ? undefined : numberIn(text);
  return [
    ...(appears && contains(appears, text) !== true ? [nameOf('appears', appears)] : []),
    ...(disappears && contains(disappears, text) === true ? [nameOf('disappears', disappears)] : []),
    ...(above !== undefined && number !== undefined && number <= above ? [nameOf('above', above)] : []),
    ...(below !== undefined && number !== undefined && number >= below ? [nameOf('below', below)] : []),
  ];
}

const nameOf = (condition: string, value: RegExp | number): string => `${condition} ${String(value)}`;

/** Why it is not told, or undefined when it is. Given conditions must all hold; a pair of opposites needs one of them. */
export function unmet(
  conditions: TellConditions,
  told: string,
  next: string,
  format: Projection['format'],
  difference: Difference,
  ready: readonly string[] = readyFor(conditions, told),
): string | undefined {
  return (
    tooSmall(conditions, told, difference) ??
    wrongDirection(conditions, difference, format) ??
    noText(conditions, next, ready) ??
    noNumber(conditions, told, next, ready)
  );
}

function tooSmall(
  { charactersMin, percentMin }: TellConditions,
  told: string,
  difference: Difference,
): string | undefined {
  const size = difference.charactersAdded + difference.charactersRemoved;
  if (charactersMin !== undefined && size < charactersMin)
    return `${size} characters differ from what was last told; told from ${charactersMin}`;
  const percent = (size / Math.max(1, told.length)) * 100;
  if (percentMin !== undefined && percent < percentMin)
    return `${whole(percent)} % differ from what was last told; told from ${percentMin} %`;
  return undefined;
}

function wrongDirection(
  { only }: TellConditions,
  difference: Difference,
  format: Projection['format'],
): string | undefined {
  if (only === undefined) return undefined;
  const { items } = difference;
  const added = format === 'items' && items ? items.added.length > 0 : difference.charactersAdded > 0;
  const removed = format === 'items' && items ? items.removed.length > 0 : difference.charactersRemoved > 0;
  if (only === 'additions' && !added) return 'nothing was added';
  return only === 'removals' && !removed ? 'nothing was removed' : undefined;
}

function noText({ appears, disappears }: TellConditions, next: string, ready: readonly string[]): string | undefined {
  if (!appears && !disappears) return undefined;
  const could = (condition: string, value: RegExp) => ready.includes(nameOf(condition, value));
  if (appears && contains(appears, next) === true && could('appears', appears)) return undefined;
  if (disappears && contains(disappears, next) === false && could('disappears', disappears)) return undefined;
  const wanted = [
    appears && `${appears.source} did not appear`,
    disappears && `${disappears.source} did not disappear`,
  ];
  return wanted.filter(Boolean).join(', ');
}

function noNumber(
  { above, below, movesPercent }: TellConditions,
  told: string,
  next: string,
  ready: readonly string[],
): string | undefined {
  if (above === undefined && below === undefined && movesPercent === undefined) return undefined;
  const from = numberIn(told);
  const to = numberIn(next);
  if (from === undefined || to === undefined) return undefined;
  const bounded = above !== undefined || below !== undefined;
  const crossed =
    (above !== undefined && to > above && ready.includes(nameOf('above', above))) ||
    (below !== undefined && to < below && ready.includes(nameOf('below', below)));
  if (bounded && !crossed) {
    const bounds = [above !== undefined && `above ${above}`, below !== undefined && `below ${below}`].filter(Boolean);
    return `${to} has not gone ${bounds.join(' or ')}`;
  }
  const percent = percentBetween(from, to);
  if (movesPercent !== undefined && percent < movesPercent)
    return `moved by ${whole(percent)} %; told from ${movesPercent} %`;
  return undefined;
}
