/**
 * What goes wrong on the way to a proxy is the proxy's fault and no site's: whoever cannot reach it has learned nothing of the
 * sites behind. Never says the proxy's user name or password.
 */
import { fault } from '../values/fault.ts';
import type { Visit } from './ask.ts';

/** Of an HTTP proxy: what becomes of sites behind it, it says itself, by a status or by refusing the tunnel. */
const onTheWay = new Set(['connection-refused', 'connection-timeout', 'dns-unknown', 'dns-failed']);
const authenticationRequired = 407;
/** How the client says that there was no tunnel. */
const noTunnel = /Proxy [\w ]+ \((\d+)\)/;

export function throughHttpProxy(proxy: URL, inner: Visit): Visit {
  return async (ask) => {
    const answer = await inner(ask);
    const failed = (what: string) =>
      ({
        kind: 'failed',
        fault: fault('proxy-failed', `${ask.url.host}: the proxy ${proxy.host} ${what}`),
        bytesReceived: answer.bytesReceived,
      }) as const;
    if (answer.kind === 'failed' && onTheWay.has(answer.fault.code)) return failed('cannot be reached');
    const tunnel = answer.kind === 'failed' ? noTunnel.exec(answer.fault.sentence)?.[1] : undefined;
    const status = answer.kind === 'answered' ? answer.status : Number(tunnel);
    if (status === authenticationRequired) return failed('wants a user name and password, or others than it was given');
    return tunnel === undefined ? answer : failed(`answers ${tunnel} where a way to the site was asked for`);
  };
}
