/**
 * Writes client.ts from the OpenAPI document: the types of every body and call, and one function that
 * makes a request of them. `node packages/daemon/src/api/generate-client.ts` after a route has changed; a test holds the two together.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly description?: string;
}

interface Operation {
  readonly summary?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>
  >;
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const key = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`);

function typeOf(schema: Schema | undefined): string {
  if (!schema) return 'unknown';
  if (schema.$ref) return schema.$ref.split('/').at(-1)!;
  if (schema.enum) return schema.enum.map((word) => `'${String(word)}'`).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ');
  if (schema.allOf) return schema.allOf.map(typeOf).join(' & ');
  if (schema.type === 'integer' || schema.type === 'number') return 'number';
  if (schema.type === 'string' || schema.type === 'boolean' || schema.type === 'null') return schema.type;
  if (schema.type === 'array') return `readonly (${typeOf(schema.items)})[]`;
  if (schema.type === 'object') return objectOf(schema);
  return 'unknown';
}

function objectOf(schema: Schema): string {
  const values = schema.patternProperties ? Object.values(schema.patternProperties)[0] : undefined;
  if (values) return `Readonly<Record<string, ${typeOf(values)}>>`;
  const required = new Set(schema.required);
  const fields = Object.entries(schema.properties ?? {}).map(
    ([name, field]) =>
      `readonly ${key(name)}${required.has(name) ? '' : '?'}: ${typeOf(field)}${required.has(name) ? '' : ' | undefined'}`,
  );
  return fields.length > 0 ? `{ ${fields.join('; ')} }` : 'Readonly<Record<string, unknown>>';
}

function parametersOf(operation: Operation, place: 'path' | 'query' | 'header'): string | undefined {
  const found = (operation.parameters ?? []).filter((parameter) => parameter.in === place);
  if (found.length === 0) return undefined;
  const fields = found.map(({ name, required, schema }) => {
    const optional = place !== 'path' && !required;
    return `readonly ${key(name)}${optional ? '?' : ''}: ${typeOf(schema)}${optional ? ' | undefined' : ''}`;
  });
  const needed = place === 'path' || found.some(({ required }) => required);
  return `readonly ${place}${needed ? '' : '?'}: { ${fields.join('; ')} }`;
}

function answerOf(operation: Operation): string {
  const good = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
  const types = good.map(([status, { content }]) => {
    if (status === '204') return 'undefined';
    const [media, body] = Object.entries(content ?? {})[0] ?? [];
    return media?.includes('json') ? typeOf(body!.schema) : 'string';
  });
  return [...new Set(types)].join(' | ') || 'undefined';
}

function callOf(method: string, path: string, operation: Operation): string {
  const body = operation.requestBody?.content['application/json']?.schema;
  const parts = [
    parametersOf(operation, 'path'),
    parametersOf(operation, 'query'),
    parametersOf(operation, 'header'),
    body && `readonly body${operation.requestBody?.required === false ? '?' : ''}: ${typeOf(body)}`,
    `readonly answer: ${answerOf(operation)}`,
  ].filter(Boolean);
  return `  /** ${operation.summary ?? ''} */\n  readonly '${method.toUpperCase()} ${path}': { ${parts.join('; ')} };`;
}

const head = `/**
 * A typed client of the API. Written by generate-client.ts from the OpenAPI document; do not edit.
 */
/* oxlint-disable */
`;

const tail = `
type Input<Name extends keyof Calls> = Omit<Calls[Name], 'answer'>;
/** Calls that need nothing may be made without an input. */
type Given<Name extends keyof Calls> = {} extends Input<Name> ? [input?: Input<Name>] : [input: Input<Name>];

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly header: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export type Ask = <Name extends keyof Calls>(name: Name, ...given: Given<Name>) => Promise<Calls[Name]['answer']>;

/** Turns calls into requests; how they are sent, and what becomes of a problem, is the sender's to say. */
export function createClient(send: (request: Sent) => Promise<unknown>): Ask {
  return (async (name: string, input: { path?: object; query?: object; header?: object; body?: unknown } = {}) => {
    const [method, pattern] = name.split(' ') as [string, string];
    const values = new Map(Object.entries(input.path ?? {}));
    const path = pattern.replace(/\\{(\\w+)\\}/g, (_, part: string) => encodeURIComponent(String(values.get(part))));
    const given = (fields: object = {}) => Object.entries(fields).filter(([, value]) => value !== undefined && value !== '');
    const words = new URLSearchParams(given(input.query).map(([word, value]) => [word, String(value)])).toString();
    const header = Object.fromEntries(given(input.header)) as Record<string, string>;
    return send({ method, path: words === '' ? path : \`\${path}?\${words}\`, header, body: input.body });
  }) as Ask;
}
`;

export function clientText(document: OpenApi): string {
  const types = Object.entries(document.components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema)};\n`,
  );
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => callOf(method, path, operation)),
  );
  return `${head}\n${types.join('\n')}\nexport interface Calls {\n${calls.join('\n')}\n}\n${tail}`;
}

export const clientFile = join(import.meta.dirname, 'client.ts');

if (import.meta.main) {
  const { openApiDocument } = await import('./document.ts');
  writeFileSync(clientFile, clientText((await openApiDocument()) as unknown as OpenApi));
}
