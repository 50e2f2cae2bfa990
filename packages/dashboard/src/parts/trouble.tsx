import { harmless } from '../format.ts';
import type { Problem } from '../server.ts';

/** What went wrong, said once, where it matters. */
export function Trouble({ problem }: { readonly problem: Problem | undefined }) {
  if (!problem || problem.status === 401) return null;
  return (
    <p class="notice" role="alert">
      {harmless(problem.message)} <span class="soft small">({problem.code})</span>
    </p>
  );
}
