/** Structured logs on stderr, one JSON object a line. */
import { pino } from 'pino';
import type { LoopParts } from './loop-parts.ts';

export function createLog(level: string): LoopParts['log'] {
  const logger = pino({ level, base: null }, pino.destination({ dest: 2, sync: true }));
  return (at, message, fields) => logger[at](fields ?? {}, message);
}
