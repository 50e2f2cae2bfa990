/**
 * The web that `bench/observe` looks at: 10 KB pages on many loopback addresses, each address a site of its own. Runs as a
 * process of its own, so that what is measured has a core to itself. `/advance` changes every twentieth page.
 *
 * Arguments: the number of pages; `validators` or `plain`. Prints its port.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const pages = Number(process.argv[2]);
const validators = process.argv[3] === 'validators';
const versions = new Uint32Array(pages);
let pass = 0;

const filler = Array.from(
  { length: 150 },
  (_, index) => `<p>Paragraph ${index} of a page that says little but says it at some length.</p>`,
).join('\n');

function body(page: number): string {
  return `<!doctype html><html><head><title>Page ${page}</title></head><body><h1>Page ${page}</h1><p>Version ${versions[page]}</p>\n${filler}</body></html>`;
}

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  const url = request.url ?? '/';
  if (url === '/robots.txt') {
    response.writeHead(404).end();
    return;
  }
  if (url === '/advance') {
    pass++;
    for (let page = pass % 20; page < pages; page += 20) versions[page]!++;
    response.end();
    return;
  }
  const page = Number(url.slice(url.lastIndexOf('/') + 1)) % pages;
  const etag = `"${page}-${versions[page]}"`;
  if (validators && request.headers['if-none-match'] === etag) {
    response.writeHead(304, { etag }).end();
    return;
  }
  const text = Buffer.from(body(page));
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': text.length,
    ...(validators ? { etag } : {}),
  });
  response.end(text);
});
server.listen(0, '0.0.0.0', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
