/**
 * The one place where connections are made, and so the one place where addresses are judged: a literal address before
 * connecting, a name's addresses inside the lookup that the socket itself uses (an answer that changes between a check and
 * the connection changes nothing, since the checked addresses are the ones connected to), and the connected address once more.
 */
import { isIP } from 'node:net';
import type { LookupFunction, Socket } from 'node:net';
import { buildConnector } from 'undici';
import type { AddressVerdict, Network } from '../values/network.ts';
import { judgeAddress } from '../values/network.ts';
import type { Visit } from './ask.ts';
import { leaveOnceConnected } from './connecting.ts';
import { AddressRefused, explain } from './explain.ts';
import type { Resolve } from './resolve.ts';
import type { SocksProxy } from './socks.ts';
import { connectThroughSocks } from './socks.ts';

export interface ConnectorOptions {
  readonly judge: (address: string) => AddressVerdict;
  readonly resolve: Resolve;
  readonly connectMs: number;
  readonly socks?: SocksProxy | undefined;
  /** Certificates of authorities trusted beside the system's. */
  readonly authorities?: readonly string[] | undefined;
}

export function guardedConnector(options: ConnectorOptions): buildConnector.connector {
  const refusal = (host: string, address: string): AddressRefused | undefined => {
    const verdict = options.judge(address);
    return verdict.kind === 'refused' ? new AddressRefused(host, address, verdict.range) : undefined;
  };
  const connect = buildConnector({
    allowH2: true,
    timeout: options.connectMs,
    lookup: guardedLookup(options.resolve, refusal),
    autoSelectFamily: true,
    ...(options.authorities ? { ca: [...options.authorities] } : {}),
  });
  return (target, done) => {
    const leave = leaveOnceConnected();
    const callback: typeof done = (...given) => {
      const renewing = given[0] ? undefined : leave();
      if (renewing)
        void renewing.then(
          () => done(...given),
          () => done(...given),
        );
      else done(...given);
    };
    const refused = isIP(target.hostname) === 0 ? undefined : refusal(target.hostname, target.hostname);
    if (refused) {
      callback(refused, null);
      return;
    }
    if (options.socks) {
      void connectThroughSocks(options.socks, target, options.connectMs, options.resolve, refusal).then(
        (socket) => {
          if (target.protocol === 'https:') connect({ ...target, httpSocket: socket }, callback);
          else callback(null, socket);
        },
        (error: unknown) => callback(error as Error, null),
      );
      return;
    }
    connect(target, (...[error, socket]: buildConnector.CallbackArgs) => {
      if (error) {
        callback(error, null);
        return;
      }
      const late = refusal(target.hostname, (socket as Socket).remoteAddress ?? '');
      if (late) {
        (socket as Socket).destroy();
        callback(late, null);
      } else {
        callback(null, socket);
      }
    });
  };
}

function guardedLookup(
  resolve: Resolve,
  refusal: (host: string, address: string) => AddressRefused | undefined,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (all) => {
        const allowed = all.filter(({ address }) => !refusal(hostname, address));
        const first = allowed[0];
        if (!first) {
          const refused = all[0] && refusal(hostname, all[0].address);
          callback(refused ?? Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' }), []);
        } else if (options.all) {
          callback(
            null,
            allowed.map((entry) => ({ ...entry })),
          );
        } else {
          callback(null, first.address, first.family);
        }
      },
      (error: unknown) => callback(error as NodeJS.ErrnoException, []),
    );
  };
}

/**
 * For requests that a proxy connects: the address is the proxy's business, but a private one is refused as far as it can be
 * known from here.
 */
export function withAddressGuard(allowNetworks: readonly Network[], resolve: Resolve, inner: Visit): Visit {
  return async (ask) => {
    const host = ask.url.hostname.replace(/^\[|\]$/g, '');
    const addresses = isIP(host) === 0 ? await resolve(host).catch(() => []) : [{ address: host }];
    for (const { address } of addresses) {
      const verdict = judgeAddress(address, allowNetworks);
      if (verdict.kind === 'allowed') continue;
      const why = explain(new AddressRefused(host, address, verdict.range), ask.url);
      return { kind: 'failed', fault: why, bytesReceived: 0 };
    }
    return inner(ask);
  };
}
