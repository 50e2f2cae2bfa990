/** A link that can be cut, mended, slowed and, where messages of NATS go over it, made to deliver them late and twice. */
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { type Frame, natsFrames, withoutId } from './nats-frames.ts';

/** How messages fare, each by itself. */
export interface Unreliable {
  /** The share that comes twice. */
  readonly twice: number;
  /** What each copy may be late by: others overtake it. */
  readonly lateMsMax: number;
}

export interface TroubledLink {
  readonly port: number;
  /** What has gone over it, both ways. */
  bytes(): number;
  /** Breaks what is there and lets nothing new through. */
  cut(): void;
  mend(): void;
  /** From now on everything takes this much longer, each way. */
  slow(ms: number): void;
  /** From now on messages come late or twice; undefined: each once, in time. */
  unreliable(how: Unreliable | undefined): void;
  end(): Promise<void>;
}

/** What a trial's link may hold up: what the cluster says, and that it has heard. */
const ours = /^(revisit\.|\$JS\.ACK\.)/;
/** Robots and observers may be anybody's: what they say may come again under no id. */
const anybodys = /^revisit\.observation\./;

export async function troubledLink(
  to: { readonly host: string; readonly port: number },
  speaks: 'nats' | 'other' = 'other',
  random: () => number = Math.random,
): Promise<TroubledLink> {
  const sockets = new Set<Socket>();
  let whole = true;
  let delayMs = 0;
  let bytes = 0;
  let how: Unreliable | undefined;
  const send = (into: Socket, chunk: Buffer, waitMs: number): void => {
    if (waitMs === 0) into.write(chunk);
    else setTimeout(() => into.destroyed || into.write(chunk), waitMs);
  };
  const pass = (into: Socket, frame: Frame): void => {
    if (!how || frame.subject === undefined || !ours.test(frame.subject)) return send(into, frame.bytes, delayMs);
    const { lateMsMax, twice } = how;
    const late = (): number => delayMs + Math.round(random() * lateMsMax);
    send(into, frame.bytes, late());
    if (random() >= twice) return;
    const again = anybodys.test(frame.subject) && random() < 0.5 ? withoutId(frame) : frame;
    send(into, again.bytes, late());
  };
  const relay = (from: Socket, into: Socket, frames: ((chunk: Buffer) => readonly Frame[]) | undefined): void => {
    from.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (frames) for (const frame of frames(chunk)) pass(into, frame);
      else send(into, chunk, delayMs);
    });
    from.on('close', () => into.destroy());
    from.on('error', () => into.destroy());
    sockets.add(from);
    from.on('close', () => sockets.delete(from));
  };
  const server = createServer((near) => {
    if (!whole) return near.destroy();
    const far = connect(to.port, to.host);
    relay(near, far, speaks === 'nats' ? natsFrames() : undefined);
    relay(far, near, speaks === 'nats' ? natsFrames() : undefined);
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
    unreliable: (now) => (how = now),
    end: () => {
      cut();
      return new Promise((done) => server.close(() => done()));
    },
  };
}
