import { useState } from 'preact/hooks';
import { PageDifferences } from './page-differences.tsx';
import { PageLooks } from './page-looks.tsx';
import { PageSettings } from './page-settings.tsx';
import { PageWhen } from './page-when.tsx';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Figures } from '../parts/figures.tsx';
import { Foreign } from '../parts/foreign.tsx';
import { Kind } from '../parts/kind.tsx';
import { Tags } from '../parts/tags.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { ago, bare, foundPages, number, percent, rate, until, usually, waits, webHref } from '../format.ts';
import { address, go } from '../route.ts';
import { type Page, type Problem, ask, useAsk, useNow } from '../server.ts';

const parts = [
  ['differences', 'Differences'],
  ['when', 'When it changes'],
  ['looks', 'Looks'],
  ['settings', 'Settings'],
] as const;

interface Props {
  readonly id: string;
  readonly part: string | undefined;
  readonly query: URLSearchParams;
}

/** One page: what is believed of it, what it said, how it was observed, and how it is set. */
export function PageView({ id, part = 'differences', query }: Props) {
  const page = useAsk(() => ask('GET /api/pages/{id}', { path: { id } }), [id], 3_000);
  const now = useNow();
  const [problem, setProblem] = useState<Problem>();
  const [asked, setAsked] = useState(false);
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
      setProblem(undefined);
      page.reload();
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  if (!page.value)
    return page.problem ? (
      <>
        <h1>Page</h1>
        <Trouble problem={page.problem} />
      </>
    ) : (
      <h1 class="soft">…</h1>
    );
  const { value } = page;
  const probe = (): Promise<void> =>
    attempt(async () => {
      await ask('POST /api/pages/{id}/probe', { path: { id } });
      setAsked(true);
      setTimeout(() => setAsked(false), 4_000);
    });
  const pause = (): Promise<void> =>
    attempt(() => ask('PATCH /api/pages/{id}', { path: { id }, body: { paused: !value.paused } }));
  const remove = (): Promise<void> =>
    attempt(async () => {
      await ask('DELETE /api/pages/{id}', { path: { id } });
      go('#/pages');
    });
  return (
    <div class="stack">
      <div class="title-row" style={{ marginBottom: 0 }}>
        <div style={{ minWidth: 0 }}>
          <h1>
            <Foreign text={value.title ?? bare(value.url)} />
          </h1>
          <div class="row small">
            <a {...(webHref(value.url) ? { href: webHref(value.url)! } : {})} rel="noreferrer noopener" target="_blank">
              <Foreign text={bare(value.url)} />
            </a>
            {value.paused ? <Kind kind="paused" /> : value.status !== 'present' && <Kind kind={value.status} />}
            {value.select !== 'text' && <code class="soft">{value.select}</code>}
            <Tags tags={value.tags} />
          </div>
        </div>
        <div class="row">
          <button type="button" onClick={() => void probe()} disabled={asked}>
            {asked ? 'Asked for' : 'Look now'}
          </button>
          <button type="button" onClick={() => void pause()}>
            {value.paused ? 'Resume' : 'Pause'}
          </button>
          <ConfirmButton label="Remove" sure="Remove it and its versions?" onConfirm={() => void remove()} />
        </div>
      </div>
      <Trouble problem={problem} />
      {value.fault && (
        <p class="notice">
          <Foreign text={value.fault.sentence} /> <span class="soft small">({value.fault.code})</span>
        </p>
      )}
      {value.movedTo && (
        <p class="notice">
          The page has moved for good to <Foreign text={value.movedTo} />.
        </p>
      )}
      {value.discovery && (
        <p class={value.discovery.leftOut || value.discovery.misread ? 'notice' : 'soft small'}>
          {foundPages(value.discovery)}
        </p>
      )}
      <Beliefs page={value} now={now} />
      <nav class="tabs" aria-label="Of this page">
        {parts.map(([name, label]) => (
          <a key={name} href={address(['pages', id, name])} {...(name === part ? { 'aria-current': 'page' } : {})}>
            {label}
          </a>
        ))}
      </nav>
      {part === 'looks' ? (
        <PageLooks id={id} round={value.looks} />
      ) : part === 'when' ? (
        <PageWhen page={value} now={now} />
      ) : part === 'settings' ? (
        <PageSettings page={value} onSaved={page.reload} />
      ) : (
        <PageDifferences id={id} version={value.version} query={query} />
      )}
    </div>
  );
}

function Beliefs({ page, now }: { readonly page: Page; readonly now: number }) {
  const [low, high] = page.rateInterval ?? [null, null];
  return (
    <Figures
      figures={[
        { name: 'Our copy is current', value: percent(page.current), note: `seen as it is ${ago(page.lastSeen, now)}` },
        {
          name: 'Changes',
          value: rate(page.rate),
          note:
            low === null || (high === null && low === 0)
              ? 'too few looks to say how sure'
              : high === null
                ? `95 %: ${number(low, 2)} a day or more`
                : `95 %: ${number(low, 2)} to ${number(high, 2)} a day`,
        },
        {
          name: 'Seen so far',
          value: number(page.changes),
          note: page.usualTime
            ? `usually ${usually(page.usualTime)}`
            : `in ${number(page.looks)} looks; last ${ago(page.lastChange, now)}`,
        },
        {
          name: 'Next look',
          value: page.paused ? 'paused' : page.nextProbe === null ? 'in line' : until(page.nextProbe, now),
          note: waits(page) ?? `last ${ago(page.lastProbe, now)}`,
        },
      ]}
    />
  );
}
