import { useEffect, useRef } from 'preact/hooks';
import { go } from './route.ts';

const places: Readonly<Record<string, string>> = {
  c: '#/changes',
  p: '#/pages',
  f: '#/search',
  l: '#/plan',
  s: '#/sites',
  r: '#/robots',
  b: '#/lab',
  e: '#/settings',
};

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Keys that work everywhere: g and a letter goes to a view, a adds, / filters, ? explains. */
export function Shortcuts() {
  const help = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    let goingUntil = 0;
    const pressed = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (Date.now() < goingUntil && places[event.key]) {
        goingUntil = 0;
        go(places[event.key]!);
      } else if (event.key === 'g') goingUntil = Date.now() + 1_500;
      else if (event.key === 'a') go('#/add');
      else if (event.key === '?') help.current?.showModal();
      else if (event.key === '/') document.querySelector<HTMLElement>('[data-filter]')?.focus();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  const rows: readonly (readonly [string, string])[] = [
    ['g c', 'Changes'],
    ['g p', 'Pages'],
    ['g f', 'Search'],
    ['g l', 'Plan'],
    ['g s', 'Sites'],
    ['g r', 'Robots'],
    ['g b', 'Lab'],
    ['g e', 'Settings'],
    ['a', 'Add a page'],
    ['/', 'Filter'],
    ['j k', 'Next, previous row'],
    ['Enter', 'Open the row'],
    ['x', 'Mark as seen (Changes), select (Pages)'],
  ];
  return (
    <dialog ref={help} aria-labelledby="keys">
      <div class="stack">
        <h2 id="keys">Keys</h2>
        <table>
          <tbody>
            {rows.map(([keys, what]) => (
              <tr key={keys}>
                <td>
                  <kbd>{keys}</kbd>
                </td>
                <td>{what}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </div>
    </dialog>
  );
}
