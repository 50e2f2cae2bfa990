/**
 * For tests of what documents tell people to type: every name leads to a server of the test, over TLS or not, and nothing leaves
 * this machine. Loaded before the command (`node --import`), with the server's port in REVISIT_TRIAL_WEB.
 */
import dns from 'node:dns/promises';
import net from 'node:net';
import tls from 'node:tls';

const port = Number(process.env['REVISIT_TRIAL_WEB']);
/** An address of the public internet, so that the guard against private ones lets it pass; it is never connected to. */
const pretended = '93.184.216.34';
const isHome = (host: unknown): boolean => typeof host !== 'string' || /^(127\.|localhost$|\[?::1)/.test(host);

Object.assign(dns, {
  lookup: (name: string) =>
    Promise.resolve(isHome(name) ? [{ address: '127.0.0.1', family: 4 }] : [{ address: pretended, family: 4 }]),
});

function led(): net.Socket {
  const socket = plainConnect({ host: '127.0.0.1', port });
  Object.defineProperty(socket, 'remoteAddress', { value: pretended });
  return socket;
}

const plainConnect = net.connect.bind(net) as (options: net.NetConnectOpts) => net.Socket;
const connect = (...given: unknown[]): net.Socket => {
  const { host } = (given[0] ?? {}) as { host?: string };
  return isHome(host) ? (net.Socket.prototype.connect.apply(new net.Socket(), given as never) as net.Socket) : led();
};
Object.assign(net, { connect, createConnection: connect });
Object.assign(tls, {
  connect: () => {
    const socket = led();
    socket.once('connect', () => socket.emit('secureConnect'));
    return Object.assign(socket, { alpnProtocol: false, authorized: true });
  },
});
