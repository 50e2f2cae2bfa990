import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

interface Props<Item> {
  readonly total: number;
  readonly label: string;
  /** Loads one part of the list. */
  readonly load: (skip: number, limit: number) => Promise<readonly Item[]>;
  readonly row: (item: Item | undefined, index: number, top: string) => preact.ComponentChildren;
  /** A new value means that everything loaded so far is old. */
  readonly version: string;
  /** The row that must be in view. */
  readonly chosen: number;
}

const chunk = 100;

/** As many rows as are in view, of a list as long as it may be; parts are loaded as they come near. */
export function VirtualList<Item>({ total, label, load, row, version, chosen }: Props<Item>) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const [chunks, setChunks] = useState<{
    readonly version: string;
    readonly items: ReadonlyMap<number, readonly Item[]>;
  }>({
    version,
    items: new Map(),
  });
  const wanted = useRef(new Set<string>());
  const rowHeight = useRowHeight();
  useLayoutEffect(() => {
    const element = box.current!;
    const measure = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
    measure();
    const resized = new ResizeObserver(measure);
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  const first = Math.max(0, Math.floor(view.top / rowHeight) - 6);
  const last = Math.min(total, Math.ceil((view.top + view.height) / rowHeight) + 6);
  useEffect(() => {
    for (let part = Math.floor(first / chunk); part * chunk < last; part++) {
      const key = `${version} ${part}`;
      if (wanted.current.has(key)) continue;
      wanted.current.add(key);
      load(part * chunk, chunk).then(
        (items) =>
          setChunks((known) => {
            // What was loaded for an older version stays in view until its place is taken.
            const next = new Map(known.items);
            next.set(part, items);
            return { version, items: next };
          }),
        () => wanted.current.delete(key),
      );
    }
  }, [first, last, version]);
  useEffect(() => {
    const element = box.current!;
    const top = chosen * rowHeight;
    if (chosen < 0) return;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = top + rowHeight - element.clientHeight;
  }, [chosen]);
  const rows = [];
  for (let i = first; i < last; i++)
    rows.push(row(chunks.items.get(Math.floor(i / chunk))?.[i % chunk], i, `${i * rowHeight}px`));
  return (
    <div
      ref={box}
      class="list"
      role="region"
      aria-label={label}
      tabIndex={0}
      onScroll={(event) => setView({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })}
    >
      <div style={{ height: `${total * rowHeight}px` }}>{rows}</div>
    </div>
  );
}

/** The height that the style sheet gives a row, in pixels: it differs on a phone. */
function useRowHeight(): number {
  const read = (): number => {
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    return Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--row')) * rem;
  };
  const [height, setHeight] = useState(read);
  useEffect(() => {
    const again = (): void => setHeight(read());
    addEventListener('resize', again);
    return () => removeEventListener('resize', again);
  }, []);
  return height;
}
