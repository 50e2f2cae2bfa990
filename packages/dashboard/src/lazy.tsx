import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** A view that is loaded when somebody goes there. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    // Each place where it is drawn hears of it by itself: it may come between the first drawing and what follows that.
    const [View, setView] = useState(() => loaded);
    useEffect(() => {
      if (View) return;
      void load().then((component) => {
        loaded = component;
        setView(() => component);
      });
    }, []);
    return View ? <View {...props} /> : <p class="soft">…</p>;
  };
}
