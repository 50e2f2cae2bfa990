import type { Register } from '../main.ts';
import { registerAdd } from './add.ts';
import { registerChanges } from './changes.ts';
import { registerCheck } from './check.ts';
import { registerDiff } from './diff.ts';
import { registerPages } from './pages.ts';
import { registerServe } from './serve.ts';
import { registerSolve } from './solve.ts';

/** In the order in which `revisit --help` lists them. */
export const commands: readonly Register[] = [
  registerServe,
  registerAdd,
  registerPages,
  registerCheck,
  registerChanges,
  registerDiff,
  registerSolve,
];
