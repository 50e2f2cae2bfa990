/** What this stage remembers of a page between looks, kept by the store as one opaque text. */
import type { Projection } from '../values/change.ts';
import { emptyNoise, type NoiseState } from './noise.ts';

export interface DetectState {
  /** Fingerprint of selector and options: under others, nothing compares. */
  readonly settings: string;
  /** Fingerprint of the last body that was read as a copy. */
  readonly body: string;
  readonly format: Projection['format'];
  readonly media: string;
  /** The page asks for a password of its own, so a password field says nothing. */
  readonly password: boolean;
  /** The trouble the last look met, said once. */
  readonly fault?: string;
  /** A change waits since then for the look that confirms it. */
  readonly pendingSinceMs?: number;
  /** Conditions that a version since the last told one made possible again (`readyFor`). */
  readonly ready?: readonly string[];
  readonly noise: NoiseState;
}

/** Whether the state is that of a copy with this body, with no trouble said and no change waiting: nothing to read, then. */
export function isCalm(text: string, settings: string, body: string): boolean {
  // Piece by piece, as no text need be made at every look.
  const bodyAt = settingsAt + settings.length + between.length;
  return (
    text.startsWith(body, bodyAt) &&
    text.startsWith(settings, settingsAt) &&
    text.startsWith(between, settingsAt + settings.length) &&
    text.startsWith(calmEnd, bodyAt + body.length)
  );
}

const settingsAt = '{"settings":"'.length;
const between = '","body":"';
const calmEnd = '","calm":true';

export function readState(text: string | undefined): DetectState | undefined {
  if (text === undefined || text === '') return undefined;
  const { calm: _, ...state } = JSON.parse(text) as DetectState & { readonly calm?: true };
  return state;
}

/** Begins with what most looks ask for, so that they need not read the rest. */
export function writeState(state: DetectState): string {
  const { settings, body, ...rest } = state;
  const calm = body !== '' && state.fault === undefined && state.pendingSinceMs === undefined;
  return JSON.stringify({ settings, body, ...(calm ? { calm } : {}), ...rest });
}

/** Before any copy could be read: only the trouble is known. */
export function stateOfTrouble(settings: string, fault: string): DetectState {
  return { settings, body: '', format: 'text', media: '', password: false, fault, noise: emptyNoise };
}

/** For a copy of another time: nothing is known of its body, and nothing waits for a look. */
export function unread(text: string): string {
  const { fault: _fault, pendingSinceMs: _pending, ...state } = readState(text)!;
  return writeState({ ...state, body: '-' });
}
