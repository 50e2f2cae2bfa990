/**
 * What can go wrong in a way a person meets. Each has a code, listed in docs/faults.md with what to do about it, and one
 * sentence that names what was met. A fault is a value; a thrown error is a bug.
 */
export interface Fault {
  readonly code: string;
  readonly sentence: string;
}

export function fault(code: string, sentence: string): Fault {
  return { code, sentence };
}

/** Faults that lie in the operator's settings and say nothing of a site: they may be gone with the next start. */
export const ofOurSettings: ReadonlySet<string> = new Set(['address-refused', 'proxy-failed']);

/** What a port without room for a fault in its answer throws while its store cannot write; the only fault that is thrown. */
export class StoreFailed extends Error {
  readonly fault: Fault;

  constructor(reason: Fault) {
    super(reason.sentence);
    this.fault = reason;
  }
}
