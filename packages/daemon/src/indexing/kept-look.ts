/** What goes to the store of a look: all of it, or that nothing but times, counts and what was learned is new. */
import { leanState } from '../collection/collection.ts';
import type { Look, PageState } from '../values/look.ts';

/** The look as it goes to the store: its state with what was learned, and without what the store has. */
export function withNewIn(look: Look, before: PageState, model: Uint8Array | undefined): Look {
  const { detectState } = look.state;
  const other = detectState === undefined || detectState === before.detectState ? undetected(look.state) : look.state;
  const state = model ? { ...other, model } : other;
  return isAsBefore(other, before) ? { ...look, state, asBefore: true } : { ...look, state };
}

/** Written out where it may be: every look passes here, and leaving one part out of an object is slow. */
function undetected(state: PageState): PageState {
  if (state.hash === undefined) return leanState(state, false);
  const { detectState: _detectState, ...rest } = state;
  return rest;
}

function isAsBefore(state: PageState, before: PageState): boolean {
  return (
    state.detectState === undefined &&
    (state.hash === undefined || state.hash === before.hash) &&
    state.status === before.status &&
    state.version === before.version &&
    state.toldVersion === before.toldVersion &&
    state.validators.etag === before.validators.etag &&
    state.validators.lastModified === before.validators.lastModified &&
    state.validators.url === before.validators.url &&
    state.lastChangeMs === before.lastChangeMs &&
    state.fault === before.fault &&
    state.failures === before.failures &&
    state.changes === before.changes &&
    state.movedTo === before.movedTo &&
    state.revealed === before.revealed &&
    state.seenTitle === before.seenTitle
  );
}
