/** Versions as WARC 1.1 records (ISO 28500), for archives and their tools. */
import { createHash } from 'node:crypto';

export interface ArchivedVersion {
  readonly pageId: string;
  readonly url: string;
  readonly number: number;
  /** ISO 8601. */
  readonly at: string;
  readonly format: string;
  readonly text: string;
}

const mediaTypes: Readonly<Record<string, string>> = {
  html: 'text/html',
  json: 'application/json',
  items: 'application/x-ndjson',
};

/** The same version has the same record id in every export. */
function recordId(words: string): string {
  const hex = createHash('sha256').update(words).digest('hex');
  return `<urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}>`;
}

function record(headers: readonly (readonly [string, string])[], content: string): string {
  const lines = headers.map(([name, value]) => `${name}: ${value.replace(/[\r\n]+/g, ' ')}\r\n`).join('');
  return `WARC/1.1\r\n${lines}Content-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}\r\n\r\n`;
}

export function warcInfo(software: string, at: string): string {
  const content = `software: ${software}\r\nformat: WARC File Format 1.1\r\n`;
  return record(
    [
      ['WARC-Type', 'warcinfo'],
      ['WARC-Record-ID', recordId(`info ${software} ${at}`)],
      ['WARC-Date', at],
      ['Content-Type', 'application/warc-fields'],
    ],
    content,
  );
}

/** What is kept is a part of the page, read as text: a resource, not the answer that was sent. */
export function warcRecord({ pageId, url, number, at, format, text }: ArchivedVersion): string {
  const digest = createHash('sha256').update(text).digest('hex');
  return record(
    [
      ['WARC-Type', 'resource'],
      ['WARC-Record-ID', recordId(`${pageId} ${number} ${at}`)],
      ['WARC-Date', at],
      ['WARC-Target-URI', url],
      ['WARC-Block-Digest', `sha256:${digest}`],
      ['Content-Type', `${mediaTypes[format] ?? 'text/plain'}; charset=utf-8`],
    ],
    text,
  );
}
