/** What the network threw, as a fault a person understands. */
import type { Fault } from '../values/fault.ts';
import { fault } from '../values/fault.ts';
import { SocksRefused } from './socks.ts';

/** Our own limits, thrown through the HTTP client to end an exchange. */
export class LimitReached extends Error {
  readonly fault: Fault;
  constructor(code: string, sentence: string) {
    super(sentence);
    this.fault = fault(code, sentence);
  }
}

/** Thrown into the HTTP client, which hands it back. */
export class AddressRefused extends Error {
  readonly code = 'REVISIT_ADDRESS_REFUSED';
  readonly host: string;
  readonly address: string;
  readonly range: string;
  constructor(host: string, address: string, range: string) {
    const article = range === 'unspecified' ? 'an' : 'a';
    super(`${host} is at ${address}, ${article} ${range} address`);
    this.host = host;
    this.address = address;
    this.range = range;
  }
}

const certificates: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet; is the clock right?',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself, by nobody we trust',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate ends in an authority nobody trusts',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'it does not send the intermediate certificate that proves its own',
  UNABLE_TO_GET_ISSUER_CERT: 'the issuer of its certificate is unknown',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the issuer of its certificate is unknown',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  CERT_REVOKED: 'its certificate was revoked',
};

const connections: Readonly<Record<string, readonly [code: string, what: string]>> = {
  ENOTFOUND: ['dns-unknown', 'the name does not exist'],
  EAI_AGAIN: ['dns-failed', 'the name could not be looked up now'],
  EAI_FAIL: ['dns-failed', 'the name could not be looked up'],
  ETIMEOUT: ['dns-failed', 'no name server answered for it in time'],
  ENODATA: ['dns-unknown', 'the name has no address'],
  ECONNREFUSED: ['connection-refused', 'nothing listens there'],
  ECONNRESET: ['connection-lost', 'the server closed the connection'],
  EPIPE: ['connection-lost', 'the server closed the connection'],
  ETIMEDOUT: ['connection-timeout', 'the server did not answer'],
  UND_ERR_CONNECT_TIMEOUT: ['connection-timeout', 'the server did not accept the connection in time'],
  EHOSTUNREACH: ['connection-refused', 'no way leads to the host'],
  ENETUNREACH: ['connection-refused', 'no way leads to the network'],
  EADDRNOTAVAIL: ['connection-refused', 'the address cannot be connected to'],
  UND_ERR_HEADERS_OVERFLOW: ['headers-too-large', 'the headers of the answer are too large'],
  HPE_HEADER_OVERFLOW: ['headers-too-large', 'the headers of the answer are too large'],
  UND_ERR_HEADERS_TIMEOUT: ['first-byte-timeout', 'the answer did not begin in time'],
  UND_ERR_BODY_TIMEOUT: ['total-timeout', 'the answer stopped half-way'],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['body-truncated', 'the answer is not as long as it says'],
  UND_ERR_SOCKET: ['connection-lost', 'the server closed the connection'],
  UND_ERR_INFO: ['connection-lost', 'the server ended the connection'],
};

export function explain(error: unknown, url: URL): Fault {
  const host = url.host;
  for (const cause of causes(error)) {
    if (cause instanceof LimitReached) return cause.fault;
    if (cause instanceof AddressRefused) {
      return fault(
        'address-refused',
        `${cause.message}, which is not visited unless allowed (--allow-network ${cause.address})`,
      );
    }
    if (cause instanceof SocksRefused) return fault('proxy-failed', `${host}: ${cause.message}`);
    const code = (cause as NodeJS.ErrnoException).code ?? '';
    const certificate = certificates[code];
    if (certificate) return fault('certificate-invalid', `${host}: ${certificate}`);
    const known = connections[code];
    if (known) return fault(known[0], `${host}: ${known[1]}`);
    if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS') || code === 'EPROTO') {
      return fault('tls-failed', `${host}: no secure connection could be agreed on (${code})`);
    }
    if (cause.name === 'HTTPParserError') {
      return fault('answer-malformed', `${host}: the answer is not HTTP (${cause.message})`);
    }
    // The client checks some of what a server says by assertion, such as a status below 100.
    if (code === 'ERR_ASSERTION')
      return fault('answer-malformed', `${host}: the answer is not HTTP (its status or its form cannot be)`);
    if (code.startsWith('ERR_HTTP2')) return fault('connection-lost', `${host}: the HTTP/2 connection broke (${code})`);
    if (/proxy|tunnel/i.test(cause.message)) return fault('proxy-failed', `${host}: ${cause.message}`);
  }
  return fault('connection-lost', `${host}: ${error instanceof Error ? error.message : String(error)}`);
}

/** An error, what caused it, and the errors it gathers, outermost last: the inner ones know more. */
function causes(error: unknown, depth = 0): Error[] {
  if (!(error instanceof Error) || depth > 5) return [];
  const inner = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  return [...inner, error.cause].flatMap((cause) => causes(cause, depth + 1)).concat(error);
}
