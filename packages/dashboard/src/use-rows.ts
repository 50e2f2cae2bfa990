import { useEffect, useState } from 'preact/hooks';

interface Keys {
  readonly open: (index: number) => void;
  readonly mark: (index: number) => void;
}

/** Going through rows with j and k; Enter opens, x marks. */
export function useRows(total: number, keys: Keys): readonly [number, (index: number) => void] {
  const [chosen, setChosen] = useState(-1);
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT|BUTTON|A)$/.test(event.target.tagName))
        return;
      if (event.key === 'j') setChosen(Math.min(total - 1, chosen + 1));
      else if (event.key === 'k') setChosen(Math.max(0, chosen - 1));
      else if (event.key === 'Enter' && chosen >= 0) keys.open(chosen);
      else if (event.key === 'x' && chosen >= 0) keys.mark(chosen);
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  });
  return [chosen, setChosen];
}
