import { useEffect, useState } from 'preact/hooks';
import { LabResult } from './lab-result.tsx';
import { LabTraces } from './lab-traces.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { number } from '../format.ts';
import { type Problem, ask, useAsk, useNow } from '../server.ts';

const usual = ['uniform', 'lambdacrawl', 'nutch', 'revisit'];

/** "1, 4 16" as numbers. */
const numbersIn = (text: string): readonly number[] =>
  text
    .split(/[\s,;]+/)
    .filter((word) => word !== '')
    .map(Number);

/** Other policies and budgets, tried on what was really seen or on a recorded trace. */
export function Lab() {
  const lab = useAsk(() => ask('GET /api/lab'), [], 2_000);
  const now = useNow();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [trace, setTrace] = useState('');
  const [looks, setLooks] = useState('2, 8, 32');
  const [train, setTrain] = useState('50');
  const [problem, setProblem] = useState<Problem>();
  const known = lab.value?.known ?? [];
  const traces = lab.value?.traces ?? [];
  useEffect(() => {
    if (chosen.size === 0 && known.length > 0) setChosen(new Set(usual.filter((name) => known.includes(name))));
  }, [known.length]);
  const running = lab.value?.runs.some(({ state }) => state === 'running') ?? false;
  const start = async (): Promise<void> => {
    try {
      const body = { policies: [...chosen], budgets: numbersIn(looks), trainShare: Number(train) / 100 };
      await ask('POST /api/lab', { body: trace === '' ? body : { ...body, trace } });
      setProblem(undefined);
      lab.reload();
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  const toggle = (name: string): void =>
    setChosen((old) => {
      const next = new Set(old);
      if (!next.delete(name)) next.add(name);
      return next;
    });
  return (
    <>
      <div class="title-row">
        <h1>Lab</h1>
        <span class="soft">{lab.value ? `${number(lab.value.changes, 9)} changes in your history` : ''}</span>
      </div>
      <div class="stack wide-gap">
        <form class="stack" onSubmit={(event) => (event.preventDefault(), void start())}>
          <p class="soft">
            Replays recorded changes under other policies and budgets. Each policy may make the same number of looks, is
            brought as close to it from below as its own settings allow, and sees only what its looks show; the first
            part of the record is for learning.
          </p>
          <div class="row end">
            <label class="field">
              <span>Record</span>
              <select value={trace} onChange={(event) => setTrace(event.currentTarget.value)}>
                <option value="">your own history</option>
                {traces.map(({ name }) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            </label>
            <label class="field">
              <span>Looks a page and day, several budgets with commas</span>
              <input
                inputMode="decimal"
                size={20}
                value={looks}
                onInput={(event) => setLooks(event.currentTarget.value)}
              />
            </label>
            <label class="field">
              <span>Percent for learning</span>
              <input
                inputMode="decimal"
                size={8}
                value={train}
                onInput={(event) => setTrain(event.currentTarget.value)}
              />
            </label>
          </div>
          <fieldset class="choices">
            <legend>Policies</legend>
            {known.map((name) => (
              <label key={name} class="choice small">
                <input type="checkbox" checked={chosen.has(name)} onChange={() => toggle(name)} />
                {name}
              </label>
            ))}
          </fieldset>
          <div class="row">
            <button type="submit" class="main" disabled={running || chosen.size === 0}>
              {running ? 'Running…' : 'Run'}
            </button>
            {running && (
              <button type="button" onClick={() => void ask('DELETE /api/lab').then(lab.reload)}>
                Stop
              </button>
            )}
          </div>
        </form>
        <Trouble problem={problem ?? lab.problem} />
        {lab.value?.runs.map((run) => (
          <LabResult key={run.id} run={run} now={now} />
        ))}
        {lab.value?.runs.length === 0 && <p class="soft">Nothing was run yet.</p>}
        <LabTraces traces={traces} now={now} onChanged={lab.reload} />
      </div>
    </>
  );
}
