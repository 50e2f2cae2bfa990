/** Everything a server can make long, large or many has a limit, and the limit says why. */
export interface Limits {
  /** Lookup, TCP and TLS together; a server that takes longer is down for our purposes. */
  readonly connectMs: number;
  /** From asking to the first header; generous to slow applications, short enough to notice a hung one. */
  readonly firstByteMs: number;
  /** Everything; bounds servers that drip a byte a second. */
  readonly totalMs: number;
  /** What the requests of a look may take together before it follows another redirect: ten slow hops were twenty minutes. */
  readonly chainMs: number;
  /** On the wire; no page that a person reads is larger. */
  readonly wireBytesMax: number;
  /** After decompression; what one page may cost in memory. */
  readonly bodyBytesMax: number;
  /** Decompressed over compressed, beyond the first megabyte; text reaches 100, bombs 1000 and more. */
  readonly ratioMax: number;
  /** Encodings on top of each other; servers use one, a proxy may add a second. */
  readonly encodingsMax: number;
  /** All headers of an answer; browsers stop at a quarter of a megabyte, Node at 16 KB, real sites stay below 32 KB. */
  readonly headerBytesMax: number;
  /** RFC 9110 leaves it open; browsers follow 20, real chains are below 5. */
  readonly redirectsMax: number;
  /** RFC 9309 asks to read at least 500 KiB; the rest is ignored. */
  readonly robotsBytesMax: number;
  /** RFC 9309 asks for at least five. */
  readonly robotsRedirectsMax: number;
}

export const defaultLimits: Limits = {
  connectMs: 10_000,
  firstByteMs: 30_000,
  totalMs: 60_000,
  chainMs: 120_000,
  wireBytesMax: 16 * 2 ** 20,
  bodyBytesMax: 32 * 2 ** 20,
  ratioMax: 200,
  encodingsMax: 2,
  headerBytesMax: 64 * 2 ** 10,
  redirectsMax: 10,
  robotsBytesMax: 500 * 2 ** 10,
  robotsRedirectsMax: 5,
};
