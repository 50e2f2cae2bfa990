/** The way to those who are told: guarded as the way to pages is, but open to the operator's own networks. */
import type { buildConnector } from 'undici';
import { guardedConnector } from './observe/connect.ts';
import { KnownNames } from './observe/known-names.ts';
import { type Resolve, systemPlaces, systemResolve } from './observe/resolve.ts';
import { systemClock } from './values/clock.ts';
import { judgeReceiver, networkOf } from './values/network.ts';

const connectMs = 15_000;

export function receiverConnector(
  allowNetwork: readonly string[],
  resolve: Resolve = new KnownNames(systemResolve, systemClock, systemPlaces).resolve,
): buildConnector.connector {
  const allowed = allowNetwork.map(networkOf);
  return guardedConnector({ judge: (address) => judgeReceiver(address, allowed), resolve, connectMs });
}
