/** What only a demonstration answers: its daemon knows the laws of the web it watches. */
import type { DemoReport } from '../../daemon/src/demo/report-form.ts';
import { Problem, urlOf } from './server.ts';

export {
  type DelayRow,
  type DemoRate,
  type DemoReport,
  paceToTell,
  waitsFor,
} from '../../daemon/src/demo/report-form.ts';

const key = 'revisit-demo';

/** Whether this daemon has shown itself to be one; its first address leads to its panel. */
export const isDemo = (): boolean => sessionStorage.getItem(key) !== null;

export async function askDemo(): Promise<DemoReport> {
  const answer = await fetch(urlOf('/api/demo'));
  if (!answer.ok)
    throw new Problem(answer.status, 'no-demo', 'This daemon is no demonstration; "revisit demo" is one.');
  sessionStorage.setItem(key, '1');
  return (await answer.json()) as DemoReport;
}
