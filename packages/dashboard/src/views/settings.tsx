import { useState } from 'preact/hooks';
import { Feeds } from './settings-feeds.tsx';
import { Subscriptions } from './settings-subscriptions.tsx';
import { Tokens } from './settings-tokens.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { number } from '../format.ts';
import { QuietHours } from './settings-quiet.tsx';
import { type Problem, ask, urlOf, useAsk } from '../server.ts';

/** Budget, who is told, who may look, and copies of everything. */
export function Settings() {
  return (
    <>
      <div class="title-row">
        <h1>Settings</h1>
      </div>
      <div class="stack wide-gap">
        <Budget />
        <QuietHours />
        <Subscriptions />
        <Feeds />
        <Tokens />
        <section class="section">
          <h2>Backup</h2>
          <p>
            <a href={urlOf('/api/backup')} download="revisit.db">
              Download a backup
            </a>{' '}
            <span class="soft">
              one SQLite file, consistent while everything goes on; put it into an empty data folder as revisit.db
            </span>
          </p>
        </section>
        <section class="section">
          <h2>Programs</h2>
          <p>
            <a href={urlOf('/openapi.json')}>OpenAPI description</a> ·{' '}
            <a href={urlOf('/metrics')}>metrics for Prometheus</a>
          </p>
        </section>
      </div>
    </>
  );
}

function Budget() {
  const settings = useAsk(() => ask('GET /api/settings'), []);
  const budget = useAsk(() => ask('GET /api/budget'), [settings.value?.budgetPerHour]);
  /** What was typed; what is set, until something is. */
  const [typed, setTyped] = useState<string>();
  const [problem, setProblem] = useState<Problem>();
  const text = typed ?? (settings.value ? `${Number(settings.value.budgetPerHour.toPrecision(6))}/hour` : '');
  const save = async (): Promise<void> => {
    try {
      await ask('PATCH /api/settings', { body: { budget: text } });
      setProblem(undefined);
      setTyped(undefined);
      settings.reload();
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  const sooner = budget.value?.oneMore.soonerMinutes;
  return (
    <section class="section">
      <h2>Budget</h2>
      <form class="row end" onSubmit={(event) => (event.preventDefault(), void save())}>
        <label class="field">
          <span>Requests over all pages</span>
          <input value={text} onInput={(event) => setTyped(event.currentTarget.value)} />
        </label>
        <button type="submit">Set</button>
        {sooner !== null && sooner !== undefined && (
          <span class="soft small">one more an hour would find changes {number(sooner, 2)} min sooner</span>
        )}
      </form>
      <Trouble problem={problem ?? settings.problem} />
      {settings.value && (
        <p class="small soft">
          At least {number(settings.value.spacingSeconds)} s between two requests to one site, at most{' '}
          {settings.value.robots} under way at once, policy {settings.value.policy}: these are set in revisit.yaml or
          with flags.
        </p>
      )}
    </section>
  );
}
