/** What goes over a connection to NATS, cut into its messages, so that a link can hold single ones up or send them twice. */

const lineEnd = Buffer.from('\r\n');
const withPayload = new Set(['PUB', 'HPUB', 'MSG', 'HMSG']);

export interface Frame {
  readonly bytes: Buffer;
  /** Of a message; undefined for everything else, which must stay in order. */
  readonly subject: string | undefined;
}

/** Takes chunks as they come and answers the frames that are whole. */
export function natsFrames(): (chunk: Buffer) => readonly Frame[] {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const frames: Frame[] = [];
    for (;;) {
      const end = rest.indexOf(lineEnd);
      if (end < 0) return frames;
      const words = rest.toString('latin1', 0, end).split(' ');
      const isMessage = withPayload.has(words[0]!.toUpperCase());
      const size = end + 2 + (isMessage ? Number(words.at(-1)) + 2 : 0);
      if (rest.length < size) return frames;
      frames.push({ bytes: rest.subarray(0, size), subject: isMessage ? words[1] : undefined });
      rest = rest.subarray(size);
    }
  };
}

/** The same message under no id, so that the server takes it for another. */
export function withoutId({ bytes, subject }: Frame): Frame {
  const text = bytes.toString('latin1').replace('Nats-Msg-Id:', 'Nats-Was-Id:');
  return { bytes: Buffer.from(text, 'latin1'), subject };
}
