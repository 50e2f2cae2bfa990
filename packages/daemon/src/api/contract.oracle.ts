/** The API held against its own description, whatever keeps the state: generated requests, valid and not, and what comes back. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { policies } from '@revisit/core';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FastifyInstance } from 'fastify';
import { clientFile, clientText, type OpenApi } from './generate-client.ts';
import { Desk } from '../desk.ts';
import { type World, createWorld, startLoop } from '../simulation/world.ts';
import { poissonLaw } from '../simulation/simulated-web.ts';
import type { Store } from '../store/port.ts';
import { openApiDocument } from './document.ts';
import { createApi } from './server.ts';

type Schema = Record<string, any>; // eslint-disable-line typescript/no-explicit-any -- JSON schemas are read as they come
const document = (await openApiDocument()) as unknown as OpenApi & { openapi: string };
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ ...document, $id: 'doc' });

function validator(schema: Schema): ValidateFunction {
  return ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"doc#/components')) as object);
}

const odd = fc.constantFrom(
  '',
  '0',
  '-1',
  '1e400',
  '\u0000',
  '<script>',
  '‮rtl',
  '../..',
  '%00',
  'ü'.repeat(300),
  'null',
  '[]',
);

/** Values that fit a schema. */
function valid(schema: Schema): fc.Arbitrary<unknown> {
  if (schema['$ref']) return valid(document.components.schemas[String(schema['$ref']).split('/').at(-1)!] as Schema);
  if (schema['enum']) return fc.constantFrom(...(schema['enum'] as unknown[]));
  if (schema['anyOf']) return fc.oneof(...(schema['anyOf'] as Schema[]).map(valid));
  switch (schema['type']) {
    case 'integer':
      return fc.integer({ min: schema['minimum'] ?? 0, max: Math.min(schema['maximum'] ?? 50, 50) });
    case 'number':
      return fc.double({
        min: schema['exclusiveMinimum'] === 0 ? 0.01 : (schema['minimum'] ?? 0),
        max: 100,
        noNaN: true,
      });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'string':
      if (schema['format'] === 'date-time')
        return fc.constantFrom('2026-01-05T06:00:00.5Z', '2026-01-06T00:00:00+02:00');
      return fc.oneof(
        fc.string({ minLength: schema['minLength'] ?? 0, maxLength: 20 }),
        fc.constantFrom('a', '1', 'main'),
      );
    case 'array':
      return fc.array(valid(schema['items'] as Schema), { maxLength: 3 });
    case 'object':
      return objectOf(schema);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function objectOf(schema: Schema): fc.Arbitrary<unknown> {
  const properties = (schema['properties'] ?? {}) as Record<string, Schema>;
  const required = (schema['required'] ?? []) as string[];
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [
      name,
      name === 'url' ? fc.constantFrom('https://a.example/1', 'https://b.example/2', 'c.example') : valid(field),
    ]),
  );
  return fc.record(fields, { requiredKeys: required });
}

/** A value with something broken in it, or something else altogether. */
const broken = (schema: Schema): fc.Arbitrary<unknown> =>
  fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc
      .tuple(valid(schema), fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 1 }))
      .map(([value, name, stranger]) =>
        typeof value === 'object' && value !== null ? { ...value, [name]: stranger } : stranger,
      ),
    fc.tuple(valid(schema), fc.nat(), fc.oneof(odd, fc.jsonValue({ maxDepth: 1 }))).map(([value, at, other]) => {
      if (typeof value !== 'object' || value === null) return other;
      const names = Object.keys(value);
      return names.length === 0 ? other : { ...value, [names[at % names.length]!]: other };
    }),
  );

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method, path, operation: operation as Schema })),
);
export function contractSuite(name: string, openStore: () => Promise<Store>): void {
  describe(name, () => {
    let app: FastifyInstance;
    /** The same store without a loop, as commands without a daemon have it. */
    let still: FastifyInstance;
    let world: World;
    let address: string;
    const folder = mkdtempSync(join(tmpdir(), 'revisit-contract-'));
    let ids: readonly string[];

    beforeAll(async () => {
      const store = await openStore();
      const pages = [0, 1, 2].map((i) => ({
        url: `https://s${i}.example/p`,
        site: `s${i}.example`,
        law: poissonLaw(3_600_000),
      }));
      world = await createWorld({ seed: 5, startMs: Date.UTC(2026, 0, 5), store, pages });
      const loop = await startLoop(world, policies['uniform']!.create(1), {
        looksPerSecond: 0.005,
        spacingMs: 1_000,
        robots: 4,
        queueMax: 64,
      });
      void loop.run(new AbortController().signal);
      await world.clock.runUntil(world.clock.nowMs() + 6 * 3_600_000);
      app = createApi(new Desk(store, world.clock, () => {}, loop, undefined, folder));
      address = await app.listen({ host: '127.0.0.1', port: 0 });
      still = createApi(new Desk(store, world.clock, () => {}));
      ids = (await store.pages({ limit: 10 })).map(({ page }) => page.id);
    });
    afterAll(async () => {
      await app.close();
      await still.close();
      rmSync(folder, { recursive: true, force: true });
    });

    interface Request {
      readonly method: string;
      readonly url: string;
      readonly body: unknown;
      /** Of the body, where one is sent. */
      readonly mediaType: string | undefined;
    }

    /** The body that an operation takes: its media type and schema. */
    function bodyOf(operation: Schema): { readonly mediaType: string; readonly schema: Schema } | undefined {
      const content = (operation['requestBody'] as Schema | undefined)?.['content'] as
        | Record<string, Schema>
        | undefined;
      const [mediaType, entry] = Object.entries(content ?? {})[0] ?? [];
      return mediaType === undefined ? undefined : { mediaType, schema: entry!['schema'] as Schema };
    }

    function requests(path: string, method: string, operation: Schema, good: boolean): fc.Arbitrary<Request> {
      const parameters = (operation['parameters'] ?? []) as Schema[];
      const inPath = parameters.filter((parameter) => parameter['in'] === 'path');
      const inQuery = parameters.filter((parameter) => parameter['in'] === 'query');
      const body = bodyOf(operation);
      const pathValue = (parameter: Schema): fc.Arbitrary<string> =>
        parameter['name'] === 'id'
          ? fc.oneof(
              fc.nat(2).map((i) => ids[i]!),
              good ? fc.constant('none') : odd.filter((text) => text !== ''),
            )
          : good
            ? valid(parameter['schema'] as Schema).map(String)
            : odd.filter((text) => text !== '');
      const queryValue = (parameter: Schema): fc.Arbitrary<string | undefined> => {
        const some = good
          ? valid(parameter['schema'] as Schema).map(String)
          : fc.oneof(odd, valid(parameter['schema'] as Schema).map(String));
        return parameter['required'] ? some : fc.option(some, { nil: undefined });
      };
      return fc
        .tuple(
          fc.tuple(...inPath.map(pathValue)),
          fc.tuple(...inQuery.map(queryValue)),
          body ? (good ? valid(body.schema) : broken(body.schema)) : fc.constant(undefined),
        )
        .map(([places, queries, value]) => {
          const url = inPath.reduce(
            (text, parameter, i) => text.replace(`{${String(parameter['name'])}}`, encodeURIComponent(places[i]!)),
            path,
          );
          const words = inQuery.flatMap((parameter, i) =>
            queries[i] === undefined ? [] : [[String(parameter['name']), queries[i]] as [string, string]],
          );
          return {
            method,
            url: `${url}?${new URLSearchParams(words).toString()}`,
            body: value,
            mediaType: body?.mediaType,
          };
        });
    }

    /** A stream ends only when its reader leaves, so it needs a reader who can. */
    async function readStream(url: string) {
      const leave = new AbortController();
      const answer = await fetch(`${address}${url}`, { signal: leave.signal });
      const headers: Record<string, string> = Object.fromEntries(answer.headers);
      if (answer.ok) expect(headers['content-type']).toContain('text/event-stream');
      const body = answer.ok ? '' : await answer.text();
      leave.abort();
      return { statusCode: answer.status, headers, body, json: () => JSON.parse(body) as unknown };
    }

    async function send({ method, url, body, mediaType }: Request) {
      if (url.startsWith('/api/changes/stream')) return readStream(url);
      const text = mediaType === 'application/json' ? (JSON.stringify(body) ?? '') : String(body);
      // A demonstration would set a whole world going: that it does is tried in a browser.
      const asked = (url.startsWith('/api/demo') ? still : app).inject({
        method: method.toUpperCase() as 'GET',
        url,
        ...(mediaType === undefined ? {} : { headers: { 'content-type': mediaType }, payload: text }),
      });
      if (!url.startsWith('/api/check')) return asked;
      // It answers when all looks are kept, and looks take time, of which there is none unless it is made to pass.
      let answered = false;
      void asked.then(() => (answered = true));
      while (!answered) {
        await world.clock.runUntil(world.clock.nowMs() + 60_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
      return asked;
    }

    const responseValidators = new Map<string, ValidateFunction | undefined>();
    function responseValidator(
      operation: Schema,
      path: string,
      method: string,
      status: number,
    ): ValidateFunction | undefined {
      const name = `${method} ${path} ${status}`;
      if (!responseValidators.has(name)) {
        const responses = operation['responses'] as Record<string, Schema>;
        const response = responses[String(status)] ?? responses[`${String(status)[0]}XX`];
        expect(response, `${name} is documented`).toBeDefined();
        const content = Object.entries((response!['content'] ?? {}) as Record<string, Schema>)[0];
        const isJson = content?.[0].includes('json') === true && status !== 204;
        responseValidators.set(name, isJson ? validator(content[1]['schema'] as Schema) : undefined);
      }
      return responseValidators.get(name);
    }

    describe('the OpenAPI document', () => {
      test('is version 3.1, describes every call, and the client in the repository is made from it', () => {
        expect(document.openapi).toMatch(/^3\.1/);
        expect(operations.every(({ operation }) => typeof operation['summary'] === 'string')).toBe(true);
        expect(readFileSync(clientFile, 'utf8'), 'run: node packages/daemon/src/api/generate-client.ts').toBe(
          clientText(document),
        );
      });

      test('numbers in addresses have bounds: a text may say more than any store can hold', () => {
        for (const { path, operation } of operations)
          for (const { name, schema } of (operation['parameters'] ?? []) as { name: string; schema: Schema }[])
            if (schema['type'] === 'integer' || schema['type'] === 'number')
              expect(schema, `${name} of ${path}`).toMatchObject({
                minimum: expect.any(Number) as number,
                maximum: expect.any(Number) as number,
              });
      });

      test.each(operations.map((entry) => [`${entry.method.toUpperCase()} ${entry.path}`, entry] as const))(
        '%s answers as documented, whatever is asked',
        async (_name, { path, method, operation }) => {
          const body = bodyOf(operation);
          const fitsBody = body?.mediaType === 'application/json' ? validator(body.schema) : undefined;
          for (const good of [true, false]) {
            await fc.assert(
              fc.asyncProperty(requests(path, method, operation, good), async (request) => {
                const answer = await send(request);
                expect(answer.statusCode, answer.body).not.toBe(500);
                const check = responseValidator(operation, path, method, answer.statusCode);
                if (check) expect(check(answer.json()), JSON.stringify([check.errors, answer.json()])).toBe(true);
                if (answer.statusCode >= 400 && answer.statusCode !== 503) {
                  expect(answer.headers['content-type']).toContain('application/problem+json');
                  expect((answer.json() as { detail: string }).detail).not.toBe('');
                }
                if (fitsBody && !fitsBody(request.body)) expect(answer.statusCode).toBeGreaterThanOrEqual(400);
              }),
              { seed: 9, numRuns: 14 },
            );
          }
        },
      );
    });
  });
}
