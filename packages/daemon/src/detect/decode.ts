/** The text of a body: what a byte order mark says, else the header, else the document's own words, else UTF-8. */

const stated =
  /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w-]{2,40})|<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w-]{2,40})/i;

function decoderFor(label: string | undefined): TextDecoder | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}

export function decode(body: Uint8Array, charset: string | undefined): string {
  const mark =
    body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf
      ? 'utf-8'
      : body[0] === 0xfe && body[1] === 0xff
        ? 'utf-16be'
        : body[0] === 0xff && body[1] === 0xfe
          ? 'utf-16le'
          : undefined;
  const byHeader = decoderFor(mark ?? charset);
  if (byHeader) return byHeader.decode(body);
  const found = stated.exec(Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, 2048)).toString('latin1'));
  return (decoderFor(found?.[1] ?? found?.[2]) ?? new TextDecoder()).decode(body);
}
