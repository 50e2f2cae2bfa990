/** The way to those who are told: guarded as the way to pages is, but open to the operator's own networks. */
import type { buildConnector } from 'undici';
import { guardedConnector } from './observe/connect.ts';
import { type Resolve, systemResolve } from './observe/resolve.ts';
import { judgeReceiver, networkOf } from './values/network.ts';

const connectMs = 15_000;

export function receiverConnector(
  allowNetwork: readonly string[],
  resolve: Resolve = systemResolve,
): buildConnector.connector {
  const allowed = allowNetwork.map(networkOf);
  return guardedConnector({ judge: (address) => judgeReceiver(address, allowed), resolve, connectMs });
}
