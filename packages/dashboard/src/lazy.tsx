import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** A view that is loaded when somebody goes there. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const [, again] = useState(0);
    useEffect(() => {
      if (loaded) return;
      void load().then((component) => {
        loaded = component;
        again((n) => n + 1);
      });
    }, []);
    if (!loaded) return <p class="soft">…</p>;
    const Loaded = loaded;
    return <Loaded {...props} />;
  };
}
