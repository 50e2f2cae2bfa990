/** Letters over SMTP. */
import { createTransport, type Transporter } from 'nodemailer';
import type { Deliver } from '../values/subscription.ts';
import { sendMsMax, type Sent } from './courier.ts';
import type { Message } from './message.ts';

/** A server that says nothing for so long is given up before the courier gives up the letter, so that none is under way twice. */
const limitsMs = {
  connectionTimeout: sendMsMax / 4,
  greetingTimeout: sendMsMax / 4,
  socketTimeout: (sendMsMax * 3) / 4,
};
const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
/** Letters that some of their receivers have and others do not yet: more than this are not worth remembering. */
const halfSentMax = 1_000;

/** The address of the mail server with our limits, and without a password in the clear; what it says itself comes first. */
export function mailServer(smtp: string): string {
  const url = new URL(smtp);
  const unlessSaid = (name: string, value: string): void => {
    if (!url.searchParams.has(name)) url.searchParams.set(name, value);
  };
  for (const [name, ms] of Object.entries(limitsMs)) unlessSaid(name, String(ms));
  const secret = url.protocol === 'smtp:' && url.username !== '' && !loopback.test(url.hostname);
  if (secret && !url.searchParams.has('ignoreTLS')) unlessSaid('requireTLS', 'true');
  return url.href;
}

export class Mail {
  readonly #transport: Transporter;
  readonly #from: string | undefined;
  /** Who already has a letter, by its id: at the next try it goes to the others only. */
  readonly #have = new Map<string, readonly string[]>();

  constructor(smtp: string, from: string | undefined) {
    this.#transport = createTransport(mailServer(smtp));
    this.#from = from;
  }

  async send({ to, from }: Deliver & { kind: 'email' }, message: Message): Promise<Sent> {
    const have = this.#have.get(message.id) ?? [];
    const all = to.split(',').map((address) => address.trim());
    const sender = from ?? this.#from ?? all[0]!;
    try {
      const { accepted = [], rejected = [] } = await this.#transport.sendMail({
        to,
        from: sender,
        ...(have.length > 0 ? { envelope: { from: sender, to: all.filter((address) => !has(have, address)) } } : {}),
        subject: message.title.replace(/\s+/g, ' ').slice(0, 200),
        text: message.text,
        // The same id at every try, so that a mailbox can drop what it already has.
        messageId: `<${message.id}@revisit>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
      if (rejected.length === 0) {
        this.#have.delete(message.id);
        return { kind: 'taken' };
      }
      if (this.#have.size < halfSentMax) this.#have.set(message.id, [...have, ...accepted.map(addressOf)]);
      return refused(`it refused ${rejected.map(addressOf).join(', ')}`);
    } catch (error) {
      return refused((error instanceof Error ? error.message : String(error)).split('\n')[0]!);
    }
  }
}

const addressOf = (address: string | { readonly address: string }): string =>
  typeof address === 'string' ? address : address.address;

/** "Name <address>" or the address alone. */
const has = (addresses: readonly string[], written: string): boolean =>
  addresses.some((address) => written === address || written.endsWith(`<${address}>`));

const refused = (why: string): Sent => ({
  kind: 'refused',
  fault: { code: 'mail-refused', sentence: `The mail server did not take the letter (${why}).` },
});
