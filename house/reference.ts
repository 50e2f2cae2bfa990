/**
 * `node house/reference.ts` writes what docs/ has from the code: the configuration and API references and the pictures. A
 * test holds the files to what is written here.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openApiDocument } from '../packages/daemon/src/api/document.ts';
import { jsonSchema } from '../packages/daemon/src/config/file-form.ts';
import { pictures } from './pictures.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
}

const cell = (text: string): string => text.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ');

function formOf(schema: Schema): string {
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  if (schema.anyOf) return schema.anyOf.map(formOf).join(' or ');
  if (schema.type === 'array') return `list of ${schema.items ? formOf(schema.items) : 'anything'}`;
  if (schema.type === 'object') return schema.properties ? 'settings, below' : 'names with values';
  const { minimum, maximum } = schema;
  const range =
    minimum !== undefined && maximum !== undefined && maximum < 2 ** 53 - 1 ? ` from ${minimum} to ${maximum}` : '';
  const words: Record<string, string> = {
    string: 'text',
    integer: 'whole number',
    number: 'number',
    boolean: 'true or false',
  };
  return (words[String(schema.type)] ?? 'anything') + range;
}

/** The objects within a setting that have settings of their own, with the place they stand in. */
function below(schema: Schema, place: string): readonly (readonly [place: string, schema: Schema])[] {
  if (schema.properties) return [[place, schema]];
  if (schema.items) return below(schema.items, `${place}[]`);
  if (typeof schema.additionalProperties === 'object') return below(schema.additionalProperties, `${place}.NAME`);
  return (schema.anyOf ?? []).flatMap((one) => below(one, place));
}

function settingsTable(schema: Schema, place: string): string[] {
  const entries = Object.entries(schema.properties ?? {});
  const rows = entries.map(
    ([name, one]) =>
      `| \`${name}\`${schema.required?.includes(name) ? ' (needed)' : ''} | ${cell(formOf(one))} | ${cell(one.description ?? '')} |`,
  );
  const inner = entries.flatMap(([name, one]) => below(one, place === '' ? name : `${place}.${name}`));
  return [
    '| setting | form | meaning |',
    '|---|---|---|',
    ...rows,
    '',
    ...inner.flatMap(([at, one]) => [`### \`${at}\``, '', ...settingsTable(one, at)]),
  ];
}

export function configurationReference(): string {
  return [
    '# Configuration',
    '',
    'Written by `node house/reference.ts` from the schema that checks `revisit.yaml`; do not edit.',
    '',
    '`revisit serve` and `revisit check` read `revisit.yaml` in the working folder, or the file that is named. Flags override the',
    'file, the file overrides the defaults. A mistake is told in one sentence with its line, and nothing is started. Editors complete',
    'the file with [revisit.schema.json](revisit.schema.json). Durations are written as `90s`, `5m`, `2h`, `1d`; rates as `600/hour`,',
    '`2/second`, `10000/day`.',
    '',
    '```yaml',
    'budget: 600/hour',
    'spacing: 2s',
    'contact: you@example.org',
    'pages:',
    '  - url: https://example.org/prices',
    "    select: '#price'",
    '    tags: [shop]',
    '    weight: 3',
    '```',
    '',
    '## Settings',
    '',
    ...settingsTable(jsonSchema() as Schema, ''),
  ]
    .join('\n')
    .trimEnd();
}

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly description?: string }[];
  readonly responses?: Readonly<Record<string, { readonly description?: string }>>;
}

function operationText(method: string, path: string, operation: Operation): string[] {
  const asked = (operation.parameters ?? [])
    .filter((one) => one.in !== 'header')
    .map((one) => `\`${one.name}\`${one.description ? ` (${cell(one.description)})` : ''}`);
  // What every call may answer stands once, above.
  const own = Object.entries(operation.responses ?? {}).filter(
    ([code, one]) => !code.endsWith('XX') && one.description !== 'Default Response',
  );
  const answers = own.map(([code, one]) => `${code} ${cell(one.description ?? '')}`.trim());
  return [
    `### \`${method.toUpperCase()} ${path}\``,
    '',
    ...(operation.summary ? [operation.summary, ''] : []),
    ...(operation.description && operation.description !== operation.summary ? [operation.description, ''] : []),
    ...(asked.length > 0 ? [`Takes ${asked.join(', ')}.`, ''] : []),
    ...(answers.length > 0 ? [`Answers ${answers.join('; ')}`, ''] : []),
  ];
}

export async function apiReference(): Promise<string> {
  const { paths } = (await openApiDocument()) as { paths: Record<string, Record<string, Operation>> };
  const sections = Object.keys(paths)
    .sort()
    .flatMap((path) =>
      Object.entries(paths[path]!).flatMap(([method, operation]) => operationText(method, path, operation)),
    );
  return [
    '# The HTTP API',
    '',
    'Written by `node house/reference.ts` from `/openapi.json`; do not edit. The document itself has every field of every body.',
    '',
    'All bodies are JSON. Errors are problem documents (RFC 9457) whose `title` is a code of [faults.md](faults.md). Beyond loopback',
    'every call needs `Authorization: Bearer TOKEN`; `revisit token add NAME` makes one.',
    '',
    ...sections,
  ]
    .join('\n')
    .trimEnd();
}

/** Every file that is written, by its path in docs/. */
export async function references(): Promise<ReadonlyMap<string, string>> {
  const files = new Map([
    ['configuration.md', `${configurationReference()}\n`],
    ['api.md', `${await apiReference()}\n`],
  ]);
  for (const [name, svg] of Object.entries(pictures())) files.set(`pictures/${name}.svg`, `${svg}\n`);
  return files;
}

if (import.meta.main) {
  for (const [name, text] of await references()) {
    const file = join(import.meta.dirname, '../docs', name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
