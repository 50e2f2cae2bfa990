/** A link that can be cut, mended and slowed: a relay between a process and the server it believes to talk to. */
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

export interface TroubledLink {
  readonly port: number;
  /** What has gone over it, both ways. */
  bytes(): number;
  /** Breaks what is there and lets nothing new through. */
  cut(): void;
  mend(): void;
  /** From now on everything takes this much longer, each way. */
  slow(ms: number): void;
  end(): Promise<void>;
}

export async function troubledLink(to: { readonly host: string; readonly port: number }): Promise<TroubledLink> {
  const sockets = new Set<Socket>();
  let whole = true;
  let delayMs = 0;
  let bytes = 0;
  const relay = (from: Socket, into: Socket): void => {
    from.on('data', (chunk) => {
      bytes += chunk.length;
      if (delayMs === 0) into.write(chunk);
      else setTimeout(() => into.destroyed || into.write(chunk), delayMs);
    });
    from.on('close', () => into.destroy());
    from.on('error', () => into.destroy());
    sockets.add(from);
    from.on('close', () => sockets.delete(from));
  };
  const server = createServer((near) => {
    if (!whole) return near.destroy();
    const far = connect(to.port, to.host);
    relay(near, far);
    relay(far, near);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const cut = (): void => {
    whole = false;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    bytes: () => bytes,
    cut,
    mend: () => (whole = true),
    slow: (ms) => (delayMs = ms),
    end: () => {
      cut();
      return new Promise((done) => server.close(() => done()));
    },
  };
}
