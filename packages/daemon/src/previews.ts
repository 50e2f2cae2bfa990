/** Pages that were looked at before they are watched, for as long as somebody tries selections on them. */
import { randomUUID } from 'node:crypto';
import type { Loop } from './loop.ts';
import type { Fetched } from './loop-parts.ts';
import { type Fault, fault } from './values/fault.ts';
import type { NewPageSettings } from './values/page.ts';
import { decodeText } from './values/text.ts';
import type { OutlineNode } from './detect/outline.ts';

/** What a person reads of a preview. */
const textCharactersMax = 20_000;
/** Trying selections on the page just fetched costs the site nothing. */
const keepMs = 5 * 60_000;
const keptMax = 20;

interface Peeked {
  /** Another with each fetch, so that no frame shows an old picture under the name of a new one. */
  readonly picture: string;
  readonly atMs: number;
  readonly finalUrl: string;
  readonly outcome: Fetched;
}

export interface Preview {
  readonly url: string;
  readonly finalUrl: string;
  readonly title: string | null;
  readonly mediaType: string | null;
  readonly bytes: number;
  readonly text: string | null;
  readonly format: string | null;
  readonly fault: Fault | null;
  readonly outline: OutlineNode[];
  readonly picture: string | null;
}

/** Detection reads every kind of page with libraries of their own; a command that never previews does without. */
async function reading() {
  const [{ detect }, { drawn }, { outline }] = await Promise.all([
    import('./detect/detect.ts'),
    import('./detect/drawn.ts'),
    import('./detect/outline.ts'),
  ]);
  return { detect, drawn, outline };
}

const isHtml = ({ mediaType }: Fetched): boolean => mediaType === undefined || mediaType.includes('html');
const textOf = ({ body, mediaType, charset }: Fetched): string => decodeText(body, mediaType, charset).text;

export class Previews {
  readonly #peeked = new Map<string, Peeked>();

  /** What would be kept of the page, by one request; the same URL again within minutes is answered from memory. */
  async of(loop: Loop, page: NewPageSettings, nowMs: number): Promise<Preview | Fault> {
    const { url, site, headers, select, options, render } = page;
    const key = JSON.stringify([url, headers, render]);
    const before = this.#peeked.get(key);
    const found =
      before && nowMs - before.atMs <= keepMs
        ? before
        : await look(loop, { url, site, ...(headers ? { headers } : {}), ...(render ? { render } : {}) }, nowMs);
    // While the site rests, what was fetched before is better than nothing.
    const known = 'code' in found ? (found.code === 'site-busy' ? before : undefined) : found;
    if (!known) return found as Fault;
    this.#peeked.delete(key);
    this.#peeked.set(key, known);
    if (this.#peeked.size > keptMax) this.#peeked.delete(this.#peeked.keys().next().value!);
    const { detect, outline } = await reading();
    const { body, mediaType, charset } = known.outcome;
    const { detection } = await detect({ select, options, body, mediaType, charset, url: known.finalUrl, atMs: nowMs });
    const projection = detection.kind === 'first' ? detection.projection : undefined;
    return {
      url,
      finalUrl: known.finalUrl,
      title: projection?.title ?? null,
      mediaType: mediaType ?? null,
      bytes: body.length,
      text: projection?.text.slice(0, textCharactersMax) ?? null,
      format: projection?.format ?? null,
      fault: detection.kind === 'unreadable' ? detection.fault : null,
      outline: isHtml(known.outcome) ? [...outline(textOf(known.outcome))] : [],
      picture: isHtml(known.outcome) ? known.picture : null,
    };
  }

  /** The page of this name, drawn to be pointed at; undefined where none was previewed. */
  async drawn(picture: string): Promise<string | undefined> {
    const known = [...this.#peeked.values()].find((peeked) => peeked.picture === picture);
    if (!known || !isHtml(known.outcome)) return undefined;
    return (await reading()).drawn(textOf(known.outcome));
  }
}

async function look(loop: Loop, page: Parameters<Loop['peek']>[0], atMs: number): Promise<Peeked | Fault> {
  const { outcome, finalUrl } = await loop.peek(page);
  switch (outcome.kind) {
    case 'gone':
      return fault('page-gone', `The server answers ${outcome.status}: the page is not there.`);
    case 'refused':
    case 'failed':
      return outcome.fault;
    case 'not-modified':
      return fault('status-unexpected', 'The server answers 304.');
    default:
      return { picture: randomUUID(), atMs, finalUrl: finalUrl ?? page.url, outcome };
  }
}
