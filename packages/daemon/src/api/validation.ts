/** Requests against their schemas. Queries are texts and may be read as numbers; bodies say what they mean. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { FastifyRouteSchemaDef, FastifySchemaCompiler } from 'fastify/types/schema.js';
import { schemas } from './schemas.ts';

/** A day, or a time with the zone it is meant in; no other text, though a `Date` would make something of many. */
const isTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/i.test(text) && !Number.isNaN(Date.parse(text));

function compiler(coerceTypes: boolean): InstanceType<typeof Ajv2020> {
  const formats = { 'date-time': isTime };
  const ajv = new Ajv2020({ coerceTypes, useDefaults: true, verbose: true, strict: false, formats });
  for (const schema of schemas) ajv.addSchema(schema);
  return ajv;
}

const reading = compiler(true);
const strict = compiler(false);

export const validatorCompiler: FastifySchemaCompiler<object> = ({
  schema,
  httpPart,
}: FastifyRouteSchemaDef<object>) => {
  const ajv = httpPart === 'body' ? strict : reading;
  const validate: ValidateFunction = ajv.compile(schema);
  return (data: unknown) => {
    if (validate(data)) return { value: data };
    return { error: new Error(sentenceOf(validate.errors ?? [], data)) };
  };
};

/** For bodies with a reader of their own, whose sentences are shared with config files and the command line. */
export const exceptBody: FastifySchemaCompiler<object> = (route) =>
  route.httpPart === 'body' ? (data: unknown) => ({ value: data }) : validatorCompiler(route);

/** Field, value, and what is allowed, of the error that says most. */
function sentenceOf(errors: readonly ErrorObject[], data: unknown): string {
  const error = errors.find(({ keyword }) => keyword !== 'anyOf' && keyword !== 'oneOf') ?? errors[0]!;
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const params = error.params as Record<string, unknown>;
  if (error.keyword === 'required')
    return `${[...path, String(params['missingProperty'])].join('.')}: nothing is not allowed; it is required`;
  if (error.keyword === 'additionalProperties') {
    const stranger = String(params['additionalProperty']);
    const known = Object.keys((error.parentSchema as { properties?: object } | undefined)?.properties ?? {});
    return `${[...path, stranger].join('.')}: is not known; known fields are ${known.join(', ')}`;
  }
  const value = error.instancePath === '' && data === null ? 'nothing' : shown(error.data);
  return `${path.join('.') || 'body'}: ${value} is not allowed; ${allowed(error)}`;
}

function shown(value: unknown): string {
  const text = (typeof value === 'number' ? String(value) : JSON.stringify(value)) ?? 'nothing';
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

const kinds: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'a text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

function allowed(error: ErrorObject): string {
  const schema = (error.parentSchema ?? {}) as { minimum?: number; maximum?: number; enum?: unknown[] };
  if (schema.enum) return `one of ${schema.enum.join(', ')} is expected`;
  if (error.keyword === 'format') return 'a time such as 2026-01-05T14:00:00Z is expected';
  const { type } = error.params as { type?: string | string[] };
  if (schema.minimum !== undefined && schema.maximum !== undefined)
    return `a whole number from ${schema.minimum} to ${schema.maximum} is expected`;
  if (error.keyword === 'type')
    return `${[type]
      .flat()
      .map((name) => kinds[name ?? ''] ?? name)
      .join(' or ')} is expected`;
  return `it ${error.message ?? 'is wrong'}`;
}
