/** For tests of dispatch: probes of one site, and time that runs as fast as wanted. */
import { type Clock, type Probe, systemClock } from 'revisit/ports';

export const site = 'a.example';

let count = 0;
export const probe = (atMs = 0): Probe => ({
  id: `p${count++}`,
  url: `https://${site}/`,
  site,
  pageIds: ['x'],
  atMs,
  validators: {},
});

/** A second of waiting takes a tenth. */
export const hurried: Clock = {
  nowMs: () => systemClock.nowMs() * 10,
  sleep: (ms, signal) => systemClock.sleep(ms / 10, signal),
};
