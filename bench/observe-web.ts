/**
 * The web that `bench/observe` looks at: 10 KB pages on many loopback addresses, each address a site of its own. Runs as a
 * process of its own, so that what is measured has a core to itself, and answers with as little work as can be: what it takes of
 * the other core is taken from whoever keeps what was seen there. `/advance` changes every twentieth page.
 *
 * Arguments: the number of pages; `validators` or `plain`. Prints its port.
 */
import { createServer, type AddressInfo, type Socket } from 'node:net';

const pages = Number(process.argv[2]);
const validators = process.argv[3] === 'validators';
const versions = new Uint32Array(pages);
let pass = 0;

const paragraphs = Array.from(
  { length: 150 },
  (_, index) => `<p>Paragraph ${index} of a page that says little but says it at some length.</p>`,
).join('\n');
const filler = Buffer.from(`\n${paragraphs}</body></html>`);

/** Longer requests are nobody's here. */
const requestMax = 16_384;

let date = '';
const tick = (): void => void (date = new Date().toUTCString());
tick();
setInterval(tick, 1_000).unref();

const headOf = (status: string, length: number, more = ''): string =>
  `HTTP/1.1 ${status}\r\n${more}Date: ${date}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=120\r\nContent-Length: ${length}\r\n\r\n`;

function answer(socket: Socket, request: string): void {
  const path = request.slice(request.indexOf(' ') + 1, request.indexOf(' ', request.indexOf(' ') + 1));
  if (path === '/advance') {
    pass++;
    for (let page = pass % 20; page < pages; page += 20) versions[page]!++;
    socket.write(headOf('200 OK', 0));
    return;
  }
  if (path === '/robots.txt') {
    socket.write(headOf('404 Not Found', 0));
    return;
  }
  const page = Number(path.slice(path.lastIndexOf('/') + 1)) % pages;
  const tag = `"${page}-${versions[page]}"`;
  const etag = validators ? `ETag: ${tag}\r\n` : '';
  if (validators && /^if-none-match: *(.*)\r$/im.exec(request)?.[1] === tag) {
    socket.write(
      `HTTP/1.1 304 Not Modified\r\n${etag}Date: ${date}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=120\r\n\r\n`,
    );
    return;
  }
  const top = `<!doctype html><html><head><title>Page ${page}</title></head><body><h1>Page ${page}</h1><p>Version ${versions[page]}</p>`;
  const type = 'Content-Type: text/html; charset=utf-8\r\n';
  socket.cork();
  socket.write(headOf('200 OK', top.length + filler.length, type + etag) + top, 'latin1');
  socket.write(filler);
  socket.uncork();
}

const server = createServer({ noDelay: true }, (socket) => {
  let pending = '';
  socket.setEncoding('latin1');
  socket.setTimeout(120_000, () => socket.destroy());
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: string) => {
    pending += chunk;
    for (let end = pending.indexOf('\r\n\r\n'); end >= 0; end = pending.indexOf('\r\n\r\n')) {
      answer(socket, pending.slice(0, end + 2));
      pending = pending.slice(end + 4);
    }
    if (pending.length > requestMax) socket.destroy();
  });
});
server.listen(0, '0.0.0.0', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
