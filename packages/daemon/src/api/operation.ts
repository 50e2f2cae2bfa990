/** How a route says what it is: for validation, for the OpenAPI document and for the typed client alike. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import type { FastifyBaseLogger, FastifyInstance, FastifyTypeProvider, RawServerDefault } from 'fastify';
import type { Scope } from './access/book.ts';
import { Problem } from './schemas.ts';

interface TypeBoxProvider extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  serializer: unknown;
}

export type Api = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxProvider
>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the caller must be allowed; without it, reading for GET and writing for all else. `open` asks for nothing. */
    scope?: Scope | 'open';
  }
}

interface Parts {
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly answers: Readonly<Record<number, TSchema>>;
}

type Described<Given extends Parts> = Omit<Given, keyof Parts> & {
  readonly tags: string[];
  readonly summary: string;
  readonly response: Record<string, unknown>;
};

/** The schema of a route; errors are problem documents everywhere. */
export function operation<const Given extends Parts>(given: Given): Described<Given> {
  const { tag, summary, answers, ...rest } = given;
  const described = {
    ...rest,
    tags: [tag],
    summary,
    response: {
      ...answers,
      '4xx': asProblem('The request cannot be served as it is.'),
      '5xx': asProblem('Try again later.'),
    },
  };
  return described as unknown as Described<Given>;
}

const asProblem = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: Problem } },
});

/** An answer that is not JSON. */
export const Media = (type: string, description: string) =>
  Type.Unsafe<string>({ description, content: { [type]: { schema: { type: 'string' } } } });

export const Nothing = Type.Null({ description: 'Done; there is nothing to say.' });
