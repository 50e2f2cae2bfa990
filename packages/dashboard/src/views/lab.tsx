import { useEffect, useMemo, useState } from 'preact/hooks';
import { Plot } from '../parts/plot.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { ago, hours, number, percent } from '../format.ts';
import { type Answer, type Problem, ask, useAsk, useNow } from '../server.ts';

type Run = Answer<'GET /api/lab/{id}'>;
const colours = ['--accent', '#c2410c', '#15803d', '#7c3aed', '#b45309', '#0e7490', '#be123c', '#4d7c0f'];

/** Other policies and budgets, tried on what was really seen. */
export function Lab() {
  const lab = useAsk(() => ask('GET /api/lab'), [], 2_000);
  const now = useNow();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [looks, setLooks] = useState('4');
  const [train, setTrain] = useState('50');
  const [problem, setProblem] = useState<Problem>();
  const known = lab.value?.known ?? [];
  useEffect(() => {
    if (chosen.size === 0 && known.length > 0)
      setChosen(new Set(['uniform', 'lambdacrawl', 'nutch', 'revisit'].filter((name) => known.includes(name))));
  }, [known.length]);
  const running = lab.value?.runs.some(({ state }) => state === 'running') ?? false;
  const start = async (): Promise<void> => {
    try {
      await ask('POST /api/lab', {
        body: { policies: [...chosen], looksPerPageDay: Number(looks), trainShare: Number(train) / 100 },
      });
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
            Replays the changes you have seen under other policies. Each gets the same number of looks and sees only
            what its looks show; the first part of the history is for learning.
          </p>
          <fieldset class="row">
            <legend>Policies</legend>
            {known.map((name) => (
              <label key={name} class="choice small">
                <input type="checkbox" checked={chosen.has(name)} onChange={() => toggle(name)} />
                {name}
              </label>
            ))}
          </fieldset>
          <div class="row end">
            <label class="field">
              <span>Looks a page and day</span>
              <input
                inputMode="decimal"
                size={8}
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
            <button type="submit" class="main" disabled={running || chosen.size === 0}>
              Run
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
          <Result key={run.id} run={run} now={now} />
        ))}
        {lab.value?.runs.length === 0 && <p class="soft">Nothing was run yet.</p>}
      </div>
    </>
  );
}

function Result({ run, now }: { readonly run: Run; readonly now: number }) {
  const { result } = run;
  const x = useMemo(() => Array.from({ length: 19 }, (_, i) => (i + 1) * 5), []);
  const lines = useMemo(
    () =>
      (result?.results ?? []).map(({ policy, delayQuantiles }, i) => ({
        label: policy,
        colour: colours[i % colours.length]!,
        values: delayQuantiles.map((value) => Math.max(value, 0)),
      })),
    [run.state],
  );
  const uniform = result?.results.find(({ policy }) => policy === 'uniform')?.meanDelayHours;
  return (
    <section class="section">
      <h2>
        {run.looksPerPageDay} looks a page and day <span class="soft small">{ago(run.startedAt, now)}</span>
      </h2>
      {run.state === 'running' && (
        <label class="row small">
          <progress value={run.progress} max={1} /> {percent(run.progress)}
        </label>
      )}
      {run.state === 'failed' && <p class="notice">{run.sentence}</p>}
      {result && (
        <div class="columns">
          <div class="stack">
            <p class="small soft">
              {number(result.pages, 9)} pages, {number(result.changes, 9)} changes in the {number(result.testDays, 2)}{' '}
              days that were scored, {number(result.allowed, 9)} looks each
            </p>
            <div class="scrolls">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Policy</th>
                    <th scope="col" class="number">
                      A change waits
                    </th>
                    <th scope="col" class="number">
                      Against uniform
                    </th>
                    <th scope="col" class="number">
                      Fresh
                    </th>
                    <th scope="col" class="number">
                      Looks that found
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {[...result.results]
                    .sort((a, b) => a.meanDelayHours - b.meanDelayHours)
                    .map((row) => (
                      <tr key={row.policy}>
                        <td>{row.policy}</td>
                        <td class="number">{hours(row.meanDelayHours)}</td>
                        <td class="number">{uniform ? `× ${number(row.meanDelayHours / uniform, 2)}` : '–'}</td>
                        <td class="number">{percent(row.freshness, 1)}</td>
                        <td class="number">{percent(row.hitRate, 1)}</td>
                      </tr>
                    ))}
                </tbody>
              </table>
            </div>
          </div>
          <Plot
            x={x}
            lines={lines}
            label="Hours within which a share of the changes was found"
            xLabel="percent of the changes found"
            yLabel="hours"
          />
        </div>
      )}
    </section>
  );
}
