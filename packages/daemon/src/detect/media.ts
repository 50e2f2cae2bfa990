/** What kind of document a body is: by its media type where that can be believed, else by how it begins. */

export type MediaKind = 'html' | 'json' | 'feed' | 'sitemap' | 'xml' | 'text' | 'binary';

export function mediaKindOf(mediaType: string | undefined, text: string, feed: boolean): MediaKind {
  if (feed) return 'feed';
  const start = text
    .slice(0, 1024)
    .replace(/^\ufeff/, '')
    .trimStart();
  if (mediaType !== undefined) {
    if (/[/+]json$/.test(mediaType) || mediaType.endsWith('json-seq')) return start.startsWith('<') ? 'html' : 'json';
    if (mediaType === 'text/html' || mediaType === 'application/xhtml+xml') return 'html';
    if (/[/+]xml$/.test(mediaType)) return 'xml';
    if (
      /^(image|audio|video|font)\//.test(mediaType) ||
      /^application\/(pdf|zip|gzip|octet-stream|wasm)$/.test(mediaType)
    )
      return mediaType === 'application/octet-stream' && !text.slice(0, 4096).includes('\0')
        ? sniffed(start)
        : 'binary';
    if (mediaType === 'text/plain') return /^[[{]/.test(start) ? sniffed(start) : 'text';
    if (mediaType.startsWith('text/')) return 'text';
  }
  return text.slice(0, 4096).includes('\0') ? 'binary' : sniffed(start);
}

function sniffed(start: string): MediaKind {
  if (
    /^(<!doctype html|<html|<head|<body|<!--|<(div|p|table|h1|title|script|meta|ul|main|article|section|form)[\s>])/i.test(
      start,
    )
  )
    return 'html';
  if (start.startsWith('<?xml')) return /<html[\s>]/i.test(start) ? 'html' : 'xml';
  return /^[[{]/.test(start) ? 'json' : 'text';
}
