/** `vantage`: observe from home, or send an observer to a machine near the document. */
import {
  breakEven,
  chooseVantage,
  directRound,
  type Link,
  type Observer,
  remoteTimes,
  type VantageDocument,
  type VantagePoint,
} from '../plan/vantage.ts';
import { fieldsAt, type Fields, listAt, numberAt, onlyKeys } from './read.ts';
import type { Solver } from './solve.ts';

const fields = [
  'kind',
  'documentBytes',
  'agentBytes',
  'startup',
  'observations',
  'changedShare',
  'compression',
  'links',
  'documents',
  'agentBytesPerDocument',
  'points',
];

/** One observer and the documents of one machine. */
const documentsMax = 1e6;

export const solveVantage: Solver = (problem) => {
  onlyKeys(problem, '', fields);
  const observations = numberAt(problem['observations'], 'observations', { whole: true, min: 0 });
  const observer: Observer = {
    bytes: numberAt(problem['agentBytes'], 'agentBytes', { min: 0 }),
    bytesPerDocument: numberAt(given(problem['agentBytesPerDocument'], 0), 'agentBytesPerDocument', { min: 0 }),
  };
  const startup = numberAt(given(problem['startup'], 0), 'startup', { min: 0 });
  const links = fieldsAt(problem['links'], 'links');
  onlyKeys(links, 'links', ['AB', 'AC', 'CB']);
  const home = linkAt(links['AB'], 'links.AB');
  const documents = documentsAt(problem);
  const point = { fromHome: linkAt(links['AC'], 'links.AC'), toDocuments: linkAt(links['CB'], 'links.CB'), startup };
  const others = problem['points'] === undefined ? [] : pointsAt(problem['points'], startup);
  const choice = chooseVantage(home, [point, ...others], observer, documents, observations);
  const remote = remoteTimes(point, observer, documents);
  const solution = {
    direct: choice.direct,
    remote: choice.remote[0]!,
    choose: choice.point === undefined ? 'direct' : 'remote',
    breakEven: breakEven(directRound(home, documents), remote) ?? null,
  };
  return others.length === 0 ? solution : { ...solution, point: choice.point ?? null, points: choice.remote };
};

/** Only what is absent has a default; null is a value, and a wrong one. */
function given(value: unknown, otherwise: unknown): unknown {
  return value === undefined ? otherwise : value;
}

function linkAt(value: unknown, field: string): Link {
  const link = fieldsAt(value, field);
  onlyKeys(link, field, ['latency', 'secondsPerByte']);
  return {
    latency: numberAt(link['latency'], `${field}.latency`, { min: 0 }),
    secondsPerByte: numberAt(link['secondsPerByte'], `${field}.secondsPerByte`, { min: 0 }),
  };
}

/** One document by the fields of the problem itself, or a list in which each entry may override them. */
function documentsAt(problem: Fields): VantageDocument[] {
  const one = (fields: Fields, prefix: string): VantageDocument => ({
    bytes: numberAt(given(fields['documentBytes'], problem['documentBytes']), `${prefix}documentBytes`, { min: 0 }),
    changedShare: numberAt(given(fields['changedShare'], given(problem['changedShare'], 1)), `${prefix}changedShare`, {
      min: 0,
      max: 1,
    }),
    compression: numberAt(given(fields['compression'], given(problem['compression'], 1)), `${prefix}compression`, {
      min: 0,
    }),
  });
  if (problem['documents'] === undefined) return [one(problem, '')];
  const list = listAt(problem['documents'], 'documents', 1);
  numberAt(list.length, 'documents.length', { max: documentsMax });
  return list.map((entry, d) => {
    const document = fieldsAt(entry, `documents[${d}]`);
    onlyKeys(document, `documents[${d}]`, ['documentBytes', 'changedShare', 'compression']);
    return one(document, `documents[${d}].`);
  });
}

function pointsAt(value: unknown, startup: number): VantagePoint[] {
  return listAt(value, 'points').map((entry, i) => {
    const point = fieldsAt(entry, `points[${i}]`);
    onlyKeys(point, `points[${i}]`, ['AC', 'CB', 'startup']);
    return {
      fromHome: linkAt(point['AC'], `points[${i}].AC`),
      toDocuments: linkAt(point['CB'], `points[${i}].CB`),
      startup: numberAt(given(point['startup'], startup), `points[${i}].startup`, { min: 0 }),
    };
  });
}
