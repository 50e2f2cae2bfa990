import { expect, test } from 'vitest';
import { warcInfo, warcRecord } from './warc.ts';

/** Reads records by their stated lengths, as archive tools do. */
function read(bytes: Buffer): { headers: Map<string, string>; content: string }[] {
  const out: { headers: Map<string, string>; content: string }[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf('\r\n\r\n', at);
    const [first, ...lines] = bytes.subarray(at, end).toString('utf8').split('\r\n');
    expect(first).toBe('WARC/1.1');
    const headers = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)] as const),
    );
    const length = Number(headers.get('Content-Length'));
    const content = bytes.subarray(end + 4, end + 4 + length).toString('utf8');
    expect(bytes.subarray(end + 4 + length, end + 8 + length).toString()).toBe('\r\n\r\n');
    at = end + 8 + length;
    out.push({ headers, content });
  }
  return out;
}

test('records read back by their lengths, and a version keeps its id', () => {
  const at = '2026-11-15T08:00:00.000Z';
  const version = {
    pageId: 'p',
    url: 'https://a.example/ü',
    number: 2,
    at,
    format: 'text',
    text: 'Größe\r\n\r\nWARC/1.1 船',
  };
  const [info, first, second] = read(
    Buffer.from(warcInfo('revisit', at) + warcRecord(version) + warcRecord({ ...version, number: 3, text: '' })),
  );
  expect(info!.headers.get('WARC-Type')).toBe('warcinfo');
  expect(first!.content).toBe(version.text);
  expect(first!.headers.get('WARC-Target-URI')).toBe(version.url);
  expect(first!.headers.get('WARC-Record-ID')).toMatch(
    /^<urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}>$/,
  );
  expect(second!.content).toBe('');
  expect(second!.headers.get('WARC-Record-ID')).not.toBe(first!.headers.get('WARC-Record-ID'));
  expect(warcRecord(version)).toBe(warcRecord({ ...version }));
});
