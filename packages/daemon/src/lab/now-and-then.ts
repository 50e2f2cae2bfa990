/** Says something at most so often, however often it is told to. */
export function nowAndThen<Word extends readonly unknown[]>(
  everyMs: number,
  clockMs: () => number,
  say: (...word: Word) => void,
): (...word: Word) => void {
  let saidMs = -Infinity;
  return (...word) => {
    const nowMs = clockMs();
    if (nowMs - saidMs < everyMs) return;
    saidMs = nowMs;
    say(...word);
  };
}
