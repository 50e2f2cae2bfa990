/** The list of a cluster's grants and how its server listens, as they are kept in grants.json. */
import { type Grant, type NatsServing, roles } from './grants.ts';

export interface Kept {
  readonly serving: NatsServing;
  readonly grants: readonly Grant[];
}

export const nameForm = /^[a-z0-9][a-z0-9-]{0,39}$/;
/** The public half of a user's key, as NATS writes it. */
const keyForm = /^U[A-Z2-7]{55}$/;

export const grantsText = (kept: Kept): string => `${JSON.stringify(kept, null, 2)}\n`;

/** Undefined when the text is not what was written there: cut short, empty, or somebody else's. */
export function readGrants(text: string): Kept | undefined {
  let kept: Partial<Kept> | null;
  try {
    kept = JSON.parse(text) as Partial<Kept> | null;
  } catch {
    return undefined;
  }
  const { serving, grants } = kept ?? {};
  if (!isServing(serving) || !Array.isArray(grants) || !grants.every(isGrant)) return undefined;
  return { serving, grants };
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

function isServing(value: unknown): value is NatsServing {
  const { listen, folder, tls } = fieldsOf(value);
  const { cert, key } = fieldsOf(tls);
  const plain = tls === undefined || (typeof cert === 'string' && typeof key === 'string');
  return typeof listen === 'string' && typeof folder === 'string' && plain;
}

function isGrant(value: unknown): value is Grant {
  const { role, name, key } = fieldsOf(value);
  const named = typeof name === 'string' && nameForm.test(name) && typeof key === 'string' && keyForm.test(key);
  return named && roles.some((known) => known === role);
}
