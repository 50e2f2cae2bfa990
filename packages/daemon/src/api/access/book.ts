/**
 * Who may do what beyond loopback. Tokens and sessions are 256 random bits; only their SHA-256 is kept, so the data folder
 * gives nobody access. With that many random bits a slow hash would protect nothing more.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Kept, Store } from '../../store/port.ts';
import type { Clock } from '../../values/clock.ts';

export type Scope = 'read' | 'write' | 'admin';

export interface Token {
  readonly id: string;
  readonly name: string;
  readonly scope: Scope;
  readonly hash: string;
  readonly createdAtMs: number;
}

interface Session {
  readonly hash: string;
  readonly tokenId: string;
  readonly untilMs: number;
}

interface Access {
  readonly tokens: readonly Token[];
  readonly sessions: readonly Session[];
  /** Signs the addresses of feeds. */
  readonly feedSecret: string;
}

/** A month: long enough not to be asked daily, short enough that a lost device forgets. */
const sessionMs = 30 * 86_400_000;
/** Nobody logs in that often; the oldest go first. */
const sessionsMax = 1_000;
/** More tokens than that are a mistake in a script. */
export const tokensMax = 1_000;
const memoryKey = 'access';

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');
const secretOf = (prefix: string): string => `${prefix}_${randomBytes(32).toString('base64url')}`;

const feedSecret = (): string => randomBytes(32).toString('base64url');
const accessIn = (saved: Uint8Array | undefined): Access =>
  saved
    ? (JSON.parse(Buffer.from(saved).toString('utf8')) as Access)
    : { tokens: [], sessions: [], feedSecret: feedSecret() };

function same(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

export class AccessBook {
  readonly #store: Store;
  readonly #clock: Clock;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Read anew each time: where several processes share the store, a token that one of them revoked opens none of them. */
  async #read(): Promise<Access> {
    const saved = await this.#store.recall(memoryKey);
    if (saved) return accessIn(saved);
    const kept = await this.#revise((access) => ({ after: access, value: access }));
    // Nobody can be let in by what could not be kept; the next call tries again.
    return kept.kind === 'kept' ? kept.value : accessIn(undefined);
  }

  /** Of two processes that change it at once neither undoes what the other did. */
  #revise<Value>(edit: (access: Access) => { readonly after?: Access; readonly value: Value }): Promise<Kept<Value>> {
    return this.#store.revise(memoryKey, (before) => {
      const { after, value } = edit(accessIn(before));
      return after ? { after: Buffer.from(JSON.stringify(after)), value } : { value };
    });
  }

  async tokens(): Promise<readonly Token[]> {
    return (await this.#read()).tokens;
  }

  /** The secret is shown this once. */
  async add(name: string, scope: Scope): Promise<Kept<{ readonly token: Token; readonly secret: string }>> {
    const secret = secretOf('rv');
    const token: Token = {
      id: randomBytes(6).toString('hex'),
      name,
      scope,
      hash: hashOf(secret),
      createdAtMs: this.#clock.nowMs(),
    };
    return this.#revise((access) => ({
      after: { ...access, tokens: [...access.tokens, token] },
      value: { token, secret },
    }));
  }

  /** Ends its sessions too. */
  revoke(id: string): Promise<Kept<boolean>> {
    return this.#revise((access) => {
      if (!access.tokens.some((token) => token.id === id)) return { value: false };
      const tokens = access.tokens.filter((token) => token.id !== id);
      const sessions = access.sessions.filter((session) => session.tokenId !== id);
      return { after: { ...access, tokens, sessions }, value: true };
    });
  }

  async verify(secret: string): Promise<Token | undefined> {
    const hash = hashOf(secret);
    return (await this.#read()).tokens.find((token) => same(token.hash, hash));
  }

  openSession(token: Token): Promise<Kept<{ readonly secret: string; readonly seconds: number }>> {
    const secret = secretOf('rs');
    const now = this.#clock.nowMs();
    const session = { hash: hashOf(secret), tokenId: token.id, untilMs: now + sessionMs };
    return this.#revise((access) => {
      const alive = access.sessions.filter(({ untilMs }) => untilMs > now).slice(1 - sessionsMax);
      return { after: { ...access, sessions: [...alive, session] }, value: { secret, seconds: sessionMs / 1000 } };
    });
  }

  async session(secret: string): Promise<Token | undefined> {
    const hash = hashOf(secret);
    const { sessions, tokens } = await this.#read();
    const session = sessions.find((candidate) => same(candidate.hash, hash));
    if (!session || session.untilMs <= this.#clock.nowMs()) return undefined;
    return tokens.find((token) => token.id === session.tokenId);
  }

  closeSession(secret: string): Promise<Kept<undefined>> {
    const hash = hashOf(secret);
    return this.#revise((access) => ({
      after: { ...access, sessions: access.sessions.filter((session) => session.hash !== hash) },
      value: undefined,
    }));
  }

  /** What makes a feed's address secret; each feed has its own, so that one that leaks opens no other. */
  async feedKey(path: string): Promise<string> {
    const { feedSecret } = await this.#read();
    return createHmac('sha256', feedSecret).update(path).digest('base64url').slice(0, 32);
  }

  async opensFeed(path: string, key: string): Promise<boolean> {
    return same(await this.feedKey(path), key);
  }

  /** All feed addresses given out so far stop working. */
  newFeedSecret(): Promise<Kept<undefined>> {
    return this.#revise((access) => ({ after: { ...access, feedSecret: feedSecret() }, value: undefined }));
  }
}
