/** What policies save of all pages together is JSON of numbers and names in ASCII: a byte a letter. */

export function bytesOf(value: unknown): Uint8Array {
  const text = JSON.stringify(value);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Undefined where the bytes are no such text: nothing is restored then. */
export function valueOf(saved: Uint8Array): unknown {
  let text = '';
  for (const byte of saved) text += String.fromCharCode(byte);
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
