import { expect, test } from 'vitest';
import { Collection, type Entry } from '../collection/collection.ts';
import { errandFor } from './errand.ts';
import { usualSettings } from '../values/page.ts';

const headers = { authorization: 'Bearer secret' };

function moved(movedTo: string): Entry {
  const page = { id: 'a', url: 'https://a.example/1', site: 'a.example', ...usualSettings, headers, addedAtMs: 0 };
  const counts = { version: 1, toldVersion: 1, failures: 0, looks: 3, changes: 0 };
  return new Collection().add({ page, state: { status: 'present', validators: {}, ...counts, movedTo } });
}

test('what is sent with a page goes where it has moved within its origin, and to no other', () => {
  const within = moved('https://a.example/2');
  expect(errandFor(within, [within], () => false)).toMatchObject({ url: 'https://a.example/2', headers });
  for (const away of [
    'https://b.example/1',
    'http://a.example/1',
    'https://a.example:8443/1',
    'https://www.a.example/1',
  ]) {
    const entry = moved(away);
    const errand = errandFor(entry, [entry], () => false);
    expect(errand).toMatchObject({ url: away, movedFrom: 'https://a.example/1' });
    expect(errand).not.toHaveProperty('headers');
  }
});
