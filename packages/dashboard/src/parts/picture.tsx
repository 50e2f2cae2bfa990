import { useEffect, useRef, useState } from 'preact/hooks';
import { harmless } from '../format.ts';
import { urlOf } from '../server.ts';

interface Props {
  readonly name: string;
  readonly chosen: string;
  readonly onChoose: (selector: string) => void;
}

/** Pages longer than this are cut; the list of parts has the rest. */
const heightMax = 12_000;
/** How many parents of a part are offered. */
const widerMax = 6;

const boxOf = (element: Element): Record<string, string> => {
  const { left, top, width, height } = element.getBoundingClientRect();
  return { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` };
};
const selectorOf = (element: Element): string => element.getAttribute('data-selector') ?? '';

/** A selector is a stranger's word, so it is compared and never run. */
const elementWith = (pictured: Document | null | undefined, selector: string): Element | undefined =>
  selector === '' || !pictured
    ? undefined
    : [...pictured.querySelectorAll('[data-selector]')].find((element) => selectorOf(element) === selector);

/**
 * The page to point at. It lies in a frame without scripts, under a pane that takes every pointer: nothing in the page is ever
 * hovered, clicked or sent; the pane asks the frame what lies below the pointer.
 */
export function Picture({ name, chosen, onChoose }: Props) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(400);
  const [hovered, setHovered] = useState<Element>();
  const [loaded, setLoaded] = useState(false);
  const pictured = (): Document | null | undefined => frame.current?.contentDocument;
  const below = (event: { offsetX: number; offsetY: number }): Element | undefined =>
    pictured()?.elementFromPoint(event.offsetX, event.offsetY)?.closest('[data-selector]') ?? undefined;
  useEffect(() => {
    if (loaded) setHeight(Math.min(heightMax, Math.max(200, pictured()?.documentElement.scrollHeight ?? 0)));
  }, [loaded]);
  const picked = loaded ? elementWith(pictured(), chosen) : undefined;
  return (
    <>
      <div class="picture">
        <div class="picture-ground" style={{ height: `${height}px` }}>
          <iframe
            ref={frame}
            title="The page as a picture"
            sandbox="allow-same-origin"
            tabIndex={-1}
            src={urlOf(`/api/preview/${encodeURIComponent(name)}`)}
            onLoad={() => setLoaded(true)}
          />
          {hovered && <div class="picture-box" style={boxOf(hovered)} />}
          {picked && <div class="picture-box chosen" style={boxOf(picked)} />}
          <div
            class="picture-pane"
            onPointerMove={(event) => setHovered(below(event))}
            onPointerLeave={() => setHovered(undefined)}
            onClick={(event) => {
              const element = below(event);
              if (element) onChoose(selectorOf(element) === chosen ? '' : selectorOf(element));
            }}
          />
        </div>
      </div>
      <p class="small soft one-line mono">{harmless(hovered ? selectorOf(hovered) : chosen) || 'Point at a part'}</p>
      {picked && <Wider element={picked} onChoose={onChoose} />}
    </>
  );
}

function Wider({ element, onChoose }: { readonly element: Element; readonly onChoose: (selector: string) => void }) {
  const parents: Element[] = [];
  for (
    let up = element.parentElement?.closest('[data-selector]');
    up && parents.length < widerMax;
    up = up.parentElement?.closest('[data-selector]')
  )
    parents.push(up);
  if (parents.length === 0) return null;
  return (
    <p class="row small">
      <span class="soft">Wider:</span>
      {parents.map((parent) => (
        <button key={selectorOf(parent)} type="button" class="mono" onClick={() => onChoose(selectorOf(parent))}>
          {harmless(selectorOf(parent).split(' > ').at(-1)!.slice(0, 40))}
        </button>
      ))}
    </p>
  );
}
