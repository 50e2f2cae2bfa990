/**
 * Children that end when the process that started them does, however that ends: a test that fails before its cleaning up, or is
 * killed, leaves no server behind. One shell holds the other end of a pipe, is told who lives, and kills who is left when
 * the pipe closes.
 */
import { type ChildProcess, spawn } from 'node:child_process';

const watch = `
  alive=" "
  while read -r word pid; do
    case $word in
      begun) alive="$alive$pid " ;;
      ended) case $alive in *" $pid "*) alive="\${alive%% $pid *} \${alive#* $pid }" ;; esac ;;
    esac
  done
  for pid in $alive; do kill -9 "$pid"; done`;

let keeper: ChildProcess | undefined;

function tell(word: 'begun' | 'ended', pid: number): void {
  if (!keeper) {
    // Of a group of its own: a signal to ours, as a terminal sends it, must not end it first.
    keeper = spawn('sh', ['-c', watch], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    keeper.unref();
    keeper.stdin!.on('error', () => {});
    (keeper.stdin as unknown as { unref(): void }).unref();
  }
  keeper.stdin!.write(`${word} ${pid}\n`);
}

/** The process is not ours alone to end: it ends with us at the latest. Answers how to say that it has ended before. */
export function leashed(pid: number): () => void {
  tell('begun', pid);
  return () => tell('ended', pid);
}

export function leash<Child extends ChildProcess>(child: Child): Child {
  if (child.pid !== undefined) child.once('exit', leashed(child.pid));
  return child;
}
