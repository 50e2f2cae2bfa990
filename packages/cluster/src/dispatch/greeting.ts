/**
 * Whether a server of NATS is at an address. Such a server speaks first; the client waits for that in vain where another kind of
 * server listens, says that time ran out, and never lets go of the socket.
 */
import { createConnection } from 'node:net';

const usualPort = 4222;
const greeting = 'INFO ';

/** An IPv6 address alone may stand without brackets. */
function placeOf(server: string): { readonly host: string; readonly port: number } {
  const rest = server.replace(/^.*:\/\//, '');
  // A scheme of no usual port, or a port that is the usual one would be left out.
  const { hostname, port } = new URL(URL.canParse(`nats://${rest}`) ? `nats://${rest}` : `nats://[${rest}]`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || usualPort) };
}

/** `away` where nobody listens, or the name is unknown. */
type Greeting = 'nats' | 'other' | 'away';

function greetingOf(server: string, until: AbortSignal): Promise<Greeting> {
  return new Promise((resolve) => {
    let [connected, heard] = [false, ''];
    const socket = createConnection(placeOf(server));
    const done = (found: Greeting): void => {
      until.removeEventListener('abort', silent);
      socket.destroy();
      resolve(found);
    };
    const silent = (): void => done(connected ? 'other' : 'away');
    until.addEventListener('abort', silent);
    socket.once('connect', () => void (connected = true));
    socket.on('error', silent).on('close', silent);
    socket.on('data', (bytes: Buffer) => {
      heard += bytes.toString('latin1');
      if (heard.length >= greeting.length) done(heard.startsWith(greeting) ? 'nats' : 'other');
    });
  });
}

/** One of them at which another kind of server is, where none of them speaks NATS; nobody waits for the others once one does. */
export async function strangerAmong(
  servers: readonly string[],
  msMax: number,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const enough = new AbortController();
  const end = (): void => enough.abort();
  signal?.addEventListener('abort', end);
  const patience = setTimeout(() => enough.abort(), msMax);
  const greetings = await Promise.all(
    servers.map(async (server) => {
      const found = await greetingOf(server, enough.signal);
      if (found === 'nats') enough.abort();
      return found;
    }),
  );
  clearTimeout(patience);
  signal?.removeEventListener('abort', end);
  return greetings.includes('nats') ? undefined : servers[greetings.indexOf('other')];
}
