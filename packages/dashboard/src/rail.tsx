import { useEffect, useRef } from 'preact/hooks';
import { isDemo } from './demo.ts';
import { number } from './format.ts';
import type { Answer } from './server.ts';

const views: readonly (readonly [string, string])[] = [
  ['changes', 'Changes'],
  ['pages', 'Pages'],
  ['search', 'Search'],
  ['plan', 'Plan'],
  ['sites', 'Sites'],
  ['robots', 'Robots'],
  ['lab', 'Lab'],
  ['settings', 'Settings'],
];

interface Props {
  readonly view: string;
  readonly status: Answer<'GET /api/status'> | undefined;
  readonly lost: boolean;
}

/** Where one can go, and the daemon in four lines. */
export function Rail({ view, status, lost }: Props) {
  const rail = useRef<HTMLElement>(null);
  // On a phone the names are a strip that may be wider than the screen.
  useEffect(
    () => rail.current?.querySelector('[aria-current]')?.scrollIntoView({ inline: 'nearest', block: 'nearest' }),
    [view],
  );
  return (
    <nav ref={rail} class="rail" aria-label="Views">
      <a class="name" href="#/changes">
        <img src="./mark.svg" alt="" width="18" height="18" />
        Revisit
      </a>
      <ul>
        {[...(view === 'demo' || isDemo() ? [['demo', 'Demo'] as const] : []), ...views].map(([path, name]) => (
          <li key={path}>
            <a
              href={`#/${path}`}
              {...(view === path || (path === 'pages' && view === 'add') ? { 'aria-current': 'page' } : {})}
            >
              {name}
              {path === 'pages' && status ? <span class="soft small">{number(status.pages)}</span> : null}
            </a>
          </li>
        ))}
      </ul>
      <div class="foot">
        {lost ? (
          <span role="status">The daemon does not answer.</span>
        ) : (
          status && (
            <>
              <span>
                {number(status.changes)} {status.changes === 1 ? 'change' : 'changes'} seen
              </span>
              <span>
                {number(status.looks)} {status.looks === 1 ? 'look' : 'looks'}
              </span>
              <span>{number(status.budgetPerHour)} requests/h</span>
              <span>policy {status.policy ?? '–'}</span>
            </>
          )
        )}
        <span>
          <kbd>?</kbd> keys
        </span>
      </div>
    </nav>
  );
}
