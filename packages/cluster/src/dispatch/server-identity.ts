/**
 * Whose certificate a server must show: that of the address or name it is connected to. For an address the client passes no name on,
 * and the certificate would be compared with "localhost", which is what TLS takes where it is told nothing.
 */
import { type PeerCertificate, checkServerIdentity } from 'node:tls';
import type { ReconnectToServerHandler, Server } from '@nats-io/transport-node';

export class ServerIdentity {
  #dialed: Pick<Server, 'hostname' | 'tlsName'> | undefined;

  /** The server that is connected to next is the first of those that the client names; it asks before each try. */
  readonly dials: ReconnectToServerHandler = ([next]) => {
    this.#dialed = next;
    return null;
  };

  readonly tls = {
    checkServerIdentity: (name: string, certificate: PeerCertificate): Error | undefined => {
      const { hostname, tlsName } = this.#dialed ?? { hostname: name, tlsName: '' };
      const strange = checkServerIdentity(hostname, certificate);
      // One that others told of by its address may go by the name that they go by.
      return strange && tlsName !== '' ? checkServerIdentity(tlsName, certificate) : strange;
    },
  };
}
