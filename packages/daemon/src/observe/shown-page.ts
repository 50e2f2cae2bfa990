/**
 * The page as the browser shows it. The browser takes a snapshot of each of its processes that shows a part of the page (frames of other
 * sites have their own) by itself: no script of the page takes part in it, or can make it longer than what the page holds.
 */
import type { CDPSession, Frame, Page } from 'playwright-core';
import { flatHtml, framesMax, type ShownPart, type Snapshot } from './flat-html.ts';

/** Each takes some 300 bytes of our own memory while a page is read; a page with more of them is no page for readers. */
const nodesMax = 500_000;

export type ShownHtml =
  | { readonly kind: 'shown'; readonly html: string }
  | { readonly kind: 'too large'; readonly what: string };

interface Part {
  readonly session: CDPSession;
  readonly nodes: number;
  readonly snapshot: Snapshot;
}

export async function shownHtml(page: Page, charactersMax: number): Promise<ShownHtml> {
  // A process that was ended, as those that take too much memory are, answers nothing more; that it was, is said.
  const ended = new Promise<never>((_, reject) => page.once('crash', () => reject(new Error('Page crashed'))));
  return Promise.race([readFrames(page, charactersMax), ended]);
}

async function readFrames(page: Page, charactersMax: number): Promise<ShownHtml> {
  const parts = new Map<Frame, Part>();
  const main = page.mainFrame();
  const others = page.frames().filter((frame) => frame !== main);
  let room = nodesMax;
  for (const frame of others.slice(0, framesMax)) {
    // One that is shown by the process of the frame around it has no session of its own.
    const session = await page
      .context()
      .newCDPSession(frame)
      .catch(() => undefined);
    const part = session && (await partOf(session, room).catch((error) => goneOr(frame, error)));
    if (part === 'too large') return tooMany;
    if (part) parts.set(frame, part);
    room -= part?.nodes ?? 0;
  }
  // The page's own document comes last: where the page was ended meanwhile, this is where it fails.
  const own = await partOf(await page.context().newCDPSession(page), room);
  if (own === 'too large') return tooMany;
  parts.set(main, own);
  const html = flatHtml(await togetherOf(main, parts), charactersMax);
  return html === undefined
    ? { kind: 'too large', what: `more than ${charactersMax} characters` }
    : { kind: 'shown', html };
}

const tooMany: ShownHtml = { kind: 'too large', what: `more than ${nodesMax} nodes` };

/** What a page has taken away meanwhile is not missing from it; without the rest it is half a page. */
function goneOr(frame: Frame, error: unknown): undefined {
  if (!frame.isDetached()) throw error;
}

async function partOf(session: CDPSession, nodesMax: number): Promise<Part | 'too large'> {
  const ended = new Promise<never>((_, reject) => {
    session.once('Inspector.targetCrashed', () => reject(new Error('Page crashed')));
  });
  return Promise.race([snapshotBy(session, nodesMax), ended]);
}

async function snapshotBy(session: CDPSession, nodesMax: number): Promise<Part | 'too large'> {
  await session.send('Inspector.enable');
  const nodes = await nodesOf(session, nodesMax);
  if (nodes > nodesMax) return 'too large';
  const snapshot = await session.send('DOMSnapshot.captureSnapshot', { computedStyles: [] });
  return { session, nodes, snapshot };
}

/** What the page has thrown away counts until it is collected. */
async function nodesOf(session: CDPSession, nodesMax: number): Promise<number> {
  const count = async (): Promise<number> => (await session.send('Memory.getDOMCounters')).nodes;
  const nodes = await count();
  if (nodes <= nodesMax) return nodes;
  await session.send('HeapProfiler.collectGarbage');
  return count();
}

async function togetherOf(main: Frame, parts: ReadonlyMap<Frame, Part>): Promise<ShownPart> {
  const shown = new Map<Frame, { readonly snapshot: Snapshot; readonly elsewhere: Map<number, ShownPart> }>();
  for (const [frame, { snapshot }] of parts) shown.set(frame, { snapshot, elsewhere: new Map() });
  for (const [frame, part] of shown) {
    const around = aroundOf(frame, parts);
    const id = part.snapshot.strings[part.snapshot.documents[0]?.frameId ?? -1];
    if (!around || id === undefined) continue;
    const asked = parts.get(around)!.session.send('DOM.getFrameOwner', { frameId: id });
    const owner = await asked.catch(() => undefined);
    if (owner) shown.get(around)!.elsewhere.set(owner.backendNodeId, part);
  }
  return shown.get(main)!;
}

/** The nearest frame around it that has a process of its own. */
function aroundOf(frame: Frame, parts: ReadonlyMap<Frame, Part>): Frame | undefined {
  let around = frame.parentFrame();
  while (around && !parts.has(around)) around = around.parentFrame();
  return around ?? undefined;
}
