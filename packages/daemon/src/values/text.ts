/**
 * Bytes to text. What decides, strongest first: a byte order mark; the charset of the Content-Type header; what the document
 * says of itself (meta in HTML, the declaration in XML); what the bytes look like. Bytes that do not fit become U+FFFD, as in a browser:
 * a page that is wrong in one place is still a page.
 */

export interface DecodedText {
  readonly text: string;
  /** The encoding's name as the Encoding Standard spells it. */
  readonly encoding: string;
}

/** The HTML standard looks for meta in the first 1024 bytes; real pages put it later. */
const prescanBytes = 4096;
/** Enough to tell encodings apart. */
const sniffBytes = 256 * 1024;

export function decodeText(body: Uint8Array, mediaType: string | undefined, charset: string | undefined): DecodedText {
  const encoding = markOf(body) ?? known(charset) ?? declaredIn(body, mediaType) ?? sniff(body);
  return { text: decoderOf(encoding).decode(body), encoding };
}

const decoders = new Map<string, InstanceType<typeof TextDecoder>>();

function decoderOf(encoding: string): InstanceType<typeof TextDecoder> {
  let decoder = decoders.get(encoding);
  if (!decoder) decoders.set(encoding, (decoder = new TextDecoder(encoding)));
  return decoder;
}

function markOf(body: Uint8Array): string | undefined {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return 'utf-8';
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be';
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le';
  return undefined;
}

/** A label that means an encoding we can read; anything else counts as not said. */
function known(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  if (/^utf-?8$/i.test(label)) return 'utf-8';
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

function declaredIn(body: Uint8Array, mediaType: string | undefined): string | undefined {
  if (mediaType !== undefined && /[/+]json$/.test(mediaType)) return encodingOfJson(body);
  const head = decoderOf('windows-1252').decode(body.subarray(0, prescanBytes));
  const xml = /^\s*<\?xml[^>]*\bencoding\s*=\s*["']([\w.:-]+)["']/i.exec(head)?.[1];
  const label = xml ?? metaCharset(head.replace(/<!--[\s\S]*?(-->|$)/g, ''));
  const encoding = known(label);
  // The declaration was read as single bytes, so the document is not in UTF-16 whatever it says.
  return encoding?.startsWith('utf-16') ? 'utf-8' : encoding;
}

/** JSON is UTF-8 by its own standard; an earlier one had UTF-16 too, known by the zeros beside its first two characters, which are ASCII. */
function encodingOfJson([first, second, third, fourth]: Uint8Array): string {
  if (first === 0 && second !== 0 && third === 0 && fourth !== 0) return 'utf-16be';
  if (first !== 0 && second === 0 && third !== 0 && fourth === 0) return 'utf-16le';
  return 'utf-8';
}

function metaCharset(head: string): string | undefined {
  for (const [tag] of head.matchAll(/<meta[\s/][^>]*>/gi)) {
    const direct = /[\s/"']charset\s*=\s*["']?\s*([^\s"'/>;]+)/i.exec(tag)?.[1];
    if (direct !== undefined) return direct;
  }
  return undefined;
}

function sniff(body: Uint8Array): string {
  const sample = body.subarray(0, sniffBytes);
  const wide = sniffWide(sample);
  if (wide !== undefined) return wide;
  // Seven bits, so it would pass for UTF-8.
  if (hasJapaneseEscape(sample)) return 'iso-2022-jp';
  if (isUtf8(sample, sample.length < body.length)) return 'utf-8';
  return sniffLegacy(sample) ?? 'windows-1252';
}

/** Text in UTF-16 without a mark is mostly ASCII at every second byte. */
function sniffWide(sample: Uint8Array): string | undefined {
  const length = Math.min(sample.length & ~1, 1024);
  let evenZeros = 0;
  let oddZeros = 0;
  for (let index = 0; index < length; index += 2) {
    if (sample[index] === 0) evenZeros++;
    if (sample[index + 1] === 0) oddZeros++;
  }
  const half = length / 2;
  if (half >= 2 && oddZeros > 0.7 * half && evenZeros < 0.1 * half) return 'utf-16le';
  if (half >= 2 && evenZeros > 0.7 * half && oddZeros < 0.1 * half) return 'utf-16be';
  return undefined;
}

/** Where a text was cut off inside its last character it is UTF-8 all the same, if other characters say so. */
function isUtf8(sample: Uint8Array, cut: boolean): boolean {
  const decode = (stream: boolean): string | undefined => {
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream });
    } catch {
      return undefined;
    }
  };
  if (decode(cut) !== undefined) return true;
  return !cut && /[\u0080-\uffff]/.test(decode(true) ?? '');
}

function hasJapaneseEscape(sample: Uint8Array): boolean {
  const at = sample.indexOf(0x1b);
  if (at < 0 || sample.some((byte) => byte >= 0x80)) return false;
  for (let index = at; index >= 0; index = sample.indexOf(0x1b, index + 1)) {
    if (sample[index + 1] === 0x24 && (sample[index + 2] === 0x42 || sample[index + 2] === 0x40)) return true;
  }
  return false;
}

/**
 * Encodings in which text that is no UTF-8 is still found: the letters that give it away, and the share of them among
 * letters beyond ASCII from which on it counts. Kana, Hangul and small Cyrillic are in no other encoding's mistakes;
 * Chinese is known by its commonest characters.
 */
const legacy: readonly (readonly [encoding: string, letters: RegExp, shareMin: number])[] = [
  ['shift_jis', /[\u3040-\u30ff]/g, 0.3],
  ['euc-jp', /[\u3040-\u30ff]/g, 0.3],
  ['euc-kr', /[\uac00-\ud7a3]/g, 0.8],
  ['gb18030', /[的一是不了在人有我他这中大来上国，。]/g, 0.05],
  ['big5', /[的一是不了在人有我他這中大來上國，。]/g, 0.05],
  ['windows-1251', /[\u0430-\u044f]/g, 0.6],
  ['koi8-r', /[\u0430-\u044f]/g, 0.6],
];

function sniffLegacy(sample: Uint8Array): string | undefined {
  for (const [encoding, letters, shareMin] of legacy) {
    const text = decoderOf(encoding).decode(sample);
    const beyond = text.match(/[\u0080-\uffff]/g)?.length ?? 0;
    const wrong = text.match(/\ufffd/g)?.length ?? 0;
    if (beyond < 8 || wrong > 1 + beyond * 0.01) continue;
    if ((text.match(letters)?.length ?? 0) / beyond >= shareMin) return encoding;
  }
  return undefined;
}
