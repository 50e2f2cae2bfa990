import { expect, test } from 'vitest';
import { decodeText } from './text.ts';

const bytes = (...values: (number | string)[]) =>
  Buffer.concat(
    values.map((value) => (typeof value === 'number' ? Buffer.from([value]) : Buffer.from(value, 'latin1'))),
  );

test('the byte order mark wins over the header, and is no part of the text', () => {
  expect(decodeText(bytes(0xef, 0xbb, 0xbf, 'a'), 'text/html', 'iso-8859-1')).toEqual({ text: 'a', encoding: 'utf-8' });
  expect(decodeText(bytes(0xff, 0xfe, 'a', 0), 'text/html', undefined)).toEqual({ text: 'a', encoding: 'utf-16le' });
  expect(decodeText(bytes(0xfe, 0xff, 0, 'a'), 'text/html', 'utf-8')).toEqual({ text: 'a', encoding: 'utf-16be' });
});

test('the header wins over the document, and an unknown name in it counts for nothing', () => {
  const page = bytes('<meta charset="utf-8">', 0xe9);
  expect(decodeText(page, 'text/html', 'latin1').text).toContain('é');
  expect(decodeText(bytes('<meta charset="latin1">', 0xe9), 'text/html', 'no-such-charset').text).toContain('é');
});

test.each([
  ['<meta charset=windows-1251>', 'windows-1251'],
  ["<META http-equiv='Content-Type' content='text/html; charset=koi8-r'>", 'koi8-r'],
  ['<?xml version="1.0" encoding="ISO-8859-2"?><a/>', 'iso-8859-2'],
  ['<!-- <meta charset="big5"> --><meta charset="shift_jis">', 'shift_jis'],
  ['<meta charset="utf-16">', 'utf-8'],
  ['<meta name="x" data-charset="big5"><p>', 'utf-8'],
])('%s declares %s', (head, encoding) => {
  expect(decodeText(bytes(head), 'text/html', undefined).encoding).toBe(encoding);
});

test('what nobody declares is sniffed', () => {
  expect(decodeText(Buffer.from('grüße 你好'), undefined, undefined).encoding).toBe('utf-8');
  expect(decodeText(bytes('caf', 0xe9), 'text/plain', undefined)).toEqual({ text: 'café', encoding: 'windows-1252' });
  expect(decodeText(Buffer.from('plain text', 'utf16le'), undefined, undefined).encoding).toBe('utf-16le');
  const russian = Array.from('Съешь ещё этих мягких французских булок', (letter) => {
    const code = letter.codePointAt(0)!;
    return code === 0x451 ? 0xb8 : code >= 0x410 && code < 0x450 ? code - 0x410 + 0xc0 : code;
  });
  expect(decodeText(Uint8Array.from(russian), 'text/plain', undefined)).toEqual({
    text: 'Съешь ещё этих мягких французских булок',
    encoding: 'windows-1251',
  });
  // これはテストです。日本語 in Shift_JIS
  const japanese = Buffer.from('82b182ea82cd83658358836782c582b7814293fa967b8cea', 'hex');
  expect(decodeText(japanese, 'text/plain', undefined).encoding).toBe('shift_jis');
  // 这是一个中文的网页，我们在这里。 in GB 18030
  const chinese = Buffer.from('d5e2cac7d2bbb8f6d6d0cec4b5c4cdf8d2b3a3accED2C3C7d4dad5e2c0efa1a3', 'hex');
  expect(decodeText(chinese, 'text/plain', undefined).encoding).toBe('gb18030');
});

test('a character cut at the end of the sample does not turn UTF-8 into something else', () => {
  const text = 'ü'.repeat(140_000) + 'x';
  expect(decodeText(Buffer.from(`x${text}`), 'text/plain', undefined).encoding).toBe('utf-8');
});

test('a text that was cut inside its last character is UTF-8, where other characters are', () => {
  const whole = Buffer.from('Zażółć gęślą jaźń, 東京の天気、今日は晴れ');
  expect(decodeText(whole.subarray(0, -1), 'text/plain', undefined)).toEqual({
    text: `${whole.toString().slice(0, -1)}\ufffd`,
    encoding: 'utf-8',
  });
  expect(decodeText(bytes('caf', 0xe9), 'text/plain', undefined).encoding).toBe('windows-1252');
});

test('JSON in UTF-16 is known by its first characters, whatever its words are in', () => {
  const json = JSON.stringify({ a: '東京の天気、今日は晴れのち曇り' });
  const little = Buffer.from(json, 'utf16le');
  const big = Buffer.from(little).swap16();
  expect(decodeText(little, 'application/json', undefined)).toEqual({ text: json, encoding: 'utf-16le' });
  expect(decodeText(big, 'application/ld+json', undefined)).toEqual({ text: json, encoding: 'utf-16be' });
  expect(decodeText(Buffer.from(json), 'application/json', undefined)).toEqual({ text: json, encoding: 'utf-8' });
  for (const short of ['', '1', '12'])
    expect(decodeText(Buffer.from(short), 'application/json', undefined)).toEqual({ text: short, encoding: 'utf-8' });
});

test('Japanese in seven bits is read, and a terminal’s escapes are left as they are', () => {
  // 日本 in ISO-2022-JP
  const japanese = bytes('<p>', 0x1b, '$BF|K\\', 0x1b, '(B</p>');
  expect(decodeText(japanese, 'text/html', undefined)).toEqual({ text: '<p>日本</p>', encoding: 'iso-2022-jp' });
  expect(decodeText(bytes(0x1b, '[31mred', 0x1b, '[0m $B'), 'text/plain', undefined).encoding).toBe('utf-8');
  expect(decodeText(Buffer.from('\u001b$Bü'), 'text/plain', undefined).encoding).toBe('utf-8');
});

test('invalid bytes become replacement characters and the rest stays', () => {
  expect(decodeText(bytes('a', 0xff, 'b', 0xc3), 'text/plain', 'utf-8').text).toBe('a\ufffdb\ufffd');
});
