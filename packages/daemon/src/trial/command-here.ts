/** For tests of what a command does and says, not of its process: the command in this one. One at a time. */
import { vi } from 'vitest';
import { main } from '../cli/program.ts';
import type { Ended } from './command.ts';

export async function revisitHere(words: readonly string[]): Promise<Ended> {
  let [out, err] = ['', ''];
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true));
  try {
    const code = await main(words);
    return { code, out, err };
  } finally {
    stdout.mockRestore();
    stderr.mockRestore();
  }
}
