/** A page that is shown is read as a person sees it: with what its elements hide in shadow roots, and what its frames show. */
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { locate } from '../../../../house/provision.ts';
import { framesDeepMax, framesMax } from './flat-html.ts';
import { observerOn, probeOf, serve } from './test/loopback.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close();
});

const html = (response: ServerResponse, body: string) => response.setHeader('content-type', 'text/html').end(body);

function observing(options: Parameters<typeof observerOn>[0] = {}) {
  const observer = observerOn({ chromium: locate('chromium'), ...options });
  open.unshift(observer);
  return async (url: string): Promise<string> => {
    const { outcome } = await observer.observe({ ...probeOf(url), render: true });
    return outcome.kind === 'fetched' ? Buffer.from(outcome.body).toString() : JSON.stringify(outcome);
  };
}

async function showing(pages: Readonly<Record<string, string>>, address?: string) {
  const server = await serve((request, response) => html(response, pages[request.url!] ?? ''), undefined, address);
  open.push(server);
  return server;
}

const bodyOf = (page: string): string => /<body>([^]*)<\/body>/.exec(page)?.[1]?.replaceAll(/\s*\n\s*/g, '') ?? page;

describe.skipIf(locate('chromium') === undefined)('a page that is shown', () => {
  test('has what is in its shadow roots, with what was given to their slots, and not what has no place there', async () => {
    const shadow = `<x-open><b slot=price>200 EUR</b><i>nowhere</i></x-open><x-closed>light</x-closed>
      <x-said><template shadowrootmode=open><style>b { color: red }</style><p>said</p><slot>nothing was given</slot></template></x-said>
      <script>
        const show = (name, mode, markup) => (document.querySelector(name).attachShadow({ mode }).innerHTML = markup);
        show('x-open', 'open', '<p>Price: <slot name=price></slot></p><x-inner></x-inner>');
        show('x-closed', 'closed', '<p>closed around <slot></slot></p>');
        document.querySelector('x-open').shadowRoot.querySelector('x-inner').attachShadow({ mode: 'open' }).textContent = 'inner & all';
      </script>`;
    const server = await showing({ '/': shadow });
    const body = bodyOf(await observing()(`${server.origin}/`)).replace(/<script[^]*<\/script>/, '');
    expect(body).toBe(
      '<x-open><p>Price: <b slot="price">200 EUR</b></p><x-inner>inner &amp; all</x-inner></x-open>' +
        '<x-closed><p>closed around light</p></x-closed><x-said><p>said</p>nothing was given</x-said>',
    );
  });

  test('has the documents of its frames in their places, those of other sites too, with addresses that lead where theirs do', async () => {
    const other = await showing(
      { '/': '<p>other site</p><iframe src="/deep"></iframe>', '/deep': 'deep' },
      '127.0.0.2',
    );
    const server = await showing({
      '/': `<iframe id=one src="/inner/"></iframe><p>between</p><iframe srcdoc="<b>as text</b>"></iframe>
        <iframe src="${other.origin}/"></iframe><iframe src="http://10.0.0.1/"></iframe>`,
      '/inner/': `<title>Inner</title><meta name=robots content="nofollow"><style>p { color: red }</style>
        <p>inner <a href="link">1</a></p><script>document.body.append('written')</script>`,
    });
    expect(bodyOf(await observing()(`${server.origin}/`))).toBe(
      `<div data-frame="${server.origin}/inner/" id="one"><p>inner <a rel="nofollow" href="${server.origin}/inner/link">1</a></p>written</div>` +
        `<p>between</p><div data-frame="about:srcdoc"><b>as text</b></div>` +
        `<div data-frame="${other.origin}/"><p>other site</p><div data-frame="${other.origin}/deep">deep</div></div>` +
        '<iframe src="http://10.0.0.1/"></iframe>',
    );
  });

  test('of frames alone has what they show', async () => {
    const server = await showing({
      '/': '<frameset cols="1,1"><frame src="/a"><frameset rows="1"><frame src="/b"></frameset></frameset>',
      '/a': 'menu',
      '/b': 'content',
    });
    const page = await observing()(`${server.origin}/`);
    expect(page).toContain(`<body cols="1,1"><div data-frame="${server.origin}/a">menu</div><div rows="1">`);
    expect(page).toContain('>content</div></div></body>');
  });

  test('was not seen where a frame did not come for now', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/inner') response.writeHead(500).end('Sorry');
      else html(response, '<p>around</p><iframe src="/inner"></iframe>');
    });
    open.push(server);
    expect(await observing()(`${server.origin}/`)).toContain('the page is not whole without /inner: ');
  });

  test('has so many frames, so deep, and so much in all as it may', async () => {
    const server = await showing({
      '/many': `<script>for (let n = 0; n < ${framesMax + 10}; n++) document.write('<iframe srcdoc="frame ' + n + '"></iframe>')</script>`,
      '/deep': `<script>
        let inner = document;
        for (let n = 1; n <= ${framesDeepMax + 2}; n++) {
          const frame = document.createElement('iframe');
          (inner.body ?? inner.documentElement).append(frame);
          inner = frame.contentDocument;
          inner.body.append('level ' + n);
        }
      </script>`,
      '/large': `<x-large></x-large><script>
        document.querySelector('x-large').attachShadow({ mode: 'closed' }).textContent = 'x'.repeat(2e6)</script>`,
      '/nodes': `<p id=out style="display: none"></p><script>for (let n = 0; n < 600000; n++) out.append(document.createElement('i'))</script>`,
    });
    const look = observing({ renderLimits: { bytesMax: 2 ** 20 } });
    expect((await look(`${server.origin}/many`)).match(/>frame \d+</g)).toHaveLength(framesMax);
    const deep = await look(`${server.origin}/deep`);
    expect(deep.match(/>level \d/g)).toHaveLength(framesDeepMax);
    expect(await look(`${server.origin}/large`)).toContain('it has more than 1048576 characters');
    expect(await look(`${server.origin}/nodes`)).toContain('it has more than 500000 nodes');
  }, 60_000);

  test('is not kept from being read by scripts that have put their own in the place of the browser’s', async () => {
    const lies = `<x-open></x-open><p>here</p><script>
      document.querySelector('x-open').attachShadow({ mode: 'open' }).textContent = 'and here';
      const never = { get() { for (;;); }, configurable: true };
      for (const name of ['childNodes', 'firstChild', 'nextSibling', 'shadowRoot', 'attributes', 'outerHTML', 'textContent'])
        for (const kind of [Node, Element, Document, ShadowRoot]) Object.defineProperty(kind.prototype, name, never);
    </script>`;
    const server = await showing({ '/': lies });
    expect(await observing({ renderLimits: { totalMs: 20_000 } })(`${server.origin}/`)).toContain(
      '<x-open>and here</x-open><p>here</p>',
    );
  });
});
