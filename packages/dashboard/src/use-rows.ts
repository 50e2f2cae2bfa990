import { useEffect, useRef, useState } from 'preact/hooks';

interface Keys {
  readonly open: (index: number) => void;
  readonly mark: (index: number) => void;
}

/** Going through rows with j and k; Enter opens, x marks. */
export function useRows(total: number, keys: Keys): readonly [number, (index: number) => void] {
  const [chosen, setChosen] = useState(-1);
  // Keys come faster than rendering: what the last key chose must hold for the next one already.
  const now = useRef({ chosen, total, keys });
  now.current.total = total;
  now.current.keys = keys;
  const choose = (index: number): void => {
    now.current.chosen = index;
    setChosen(index);
  };
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT|BUTTON|A)$/.test(event.target.tagName))
        return;
      const at = now.current;
      if (event.key === 'j') choose(Math.min(at.total - 1, at.chosen + 1));
      else if (event.key === 'k') choose(Math.max(0, at.chosen - 1));
      else if (event.key === 'Enter' && at.chosen >= 0) at.keys.open(at.chosen);
      else if (event.key === 'x' && at.chosen >= 0) at.keys.mark(at.chosen);
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  return [chosen, choose];
}
