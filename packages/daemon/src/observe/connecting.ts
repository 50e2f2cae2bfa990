/**
 * Whose request a connection is made for. A connection may take longer than the leave to ask holds, so the leave is had anew when it is
 * there and before anything is written on it. The client begins to connect within the call that gives it a request, and says nothing of
 * that request: it is known here for as long as that call takes.
 */
import type { MayAsk } from '../values/observation.ts';

let asking: MayAsk | undefined;

export function dispatchWith(mayAsk: MayAsk | undefined, dispatch: () => void): void {
  asking = mayAsk;
  try {
    dispatch();
  } finally {
    asking = undefined;
  }
}

/** Asked as connecting begins. Whoever waits for what is answered, with the connection there, has leave again where it can be had. */
export function leaveOnceConnected(): () => Promise<unknown> | undefined {
  const mayAsk = asking;
  return () => (mayAsk?.isCurrent?.() === false ? mayAsk() : undefined);
}
