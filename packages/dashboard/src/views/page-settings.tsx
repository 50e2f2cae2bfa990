import { useEffect, useState } from 'preact/hooks';
import { PageNoise } from './page-noise.tsx';
import { Kind } from '../parts/kind.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { dateTime } from '../format.ts';
import { type Answer, type Page, Problem, ask, tagOf } from '../server.ts';

type Tried = Answer<'POST /api/pages/{id}/try'>['tried'];

const conditions = [
  ['charactersMin', 'At least so many characters'],
  ['percentMin', 'At least so many percent'],
  ['appears', 'A text appears (regular expression)'],
  ['disappears', 'A text disappears (regular expression)'],
  ['above', 'A number goes above'],
  ['below', 'A number goes below'],
  ['movesPercent', 'A number moves by percent'],
  ['confirmAfterSeconds', 'Still so after seconds'],
] as const;
const texts = new Set<string>(['appears', 'disappears']);

interface Props {
  readonly page: Page;
  readonly onSaved: () => void;
}

function tellOf(page: Page): Record<string, string> {
  const tell = (page.options['tell'] ?? {}) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(tell).map(([name, value]) => [name, String(value)]));
}

/** Filled in once; what others set meanwhile is noticed when it is saved, and loaded anew if wanted. */
export function PageSettings(props: Props) {
  const [round, setRound] = useState(0);
  return <SettingsForm key={round} {...props} onAnew={() => setRound(round + 1)} />;
}

/** How it is watched, with what that would have done on its last versions, as it is typed. */
function SettingsForm({ page, onSaved, onAnew }: Props & { readonly onAnew: () => void }) {
  const path = `/api/pages/${encodeURIComponent(page.id)}`;
  const [tag, setTag] = useState(tagOf(path));
  const [form, setForm] = useState({
    title: page.title ?? '',
    tags: page.tags.join(', '),
    select: page.select,
    weight: String(page.weight),
    spacing: page.spacingSeconds ? `${page.spacingSeconds}s` : '',
    ignore: ((page.options['normalise'] as { ignore?: string[] } | undefined)?.ignore ?? []).join('\n'),
  });
  const [tell, setTell] = useState(tellOf(page));
  const [problem, setProblem] = useState<Problem>();
  const [saved, setSaved] = useState(false);
  const set = (name: keyof typeof form) => (event: { currentTarget: { value: string } }) =>
    setForm({ ...form, [name]: event.currentTarget.value });

  const ignore = form.ignore.split('\n').filter((line) => line.trim() !== '');
  const told = Object.fromEntries(
    Object.entries(tell)
      .filter(([, value]) => value.trim() !== '')
      .map(([name, value]) => [name, texts.has(name) || name === 'only' ? value : Number(value)]),
  );
  const normalise = { ...(page.options['normalise'] as object | undefined), ignore };
  const options = {
    ...page.options,
    tell: told,
    ...(ignore.length > 0 || page.options['normalise'] ? { normalise } : {}),
  };
  const save = async (): Promise<void> => {
    try {
      await ask('PATCH /api/pages/{id}', {
        path: { id: page.id },
        header: { 'if-match': tag },
        body: {
          ...(form.title !== (page.title ?? '') ? { title: form.title } : {}),
          tags: form.tags
            .split(',')
            .map((tag) => tag.trim())
            .filter(Boolean),
          select: form.select,
          weight: Number(form.weight),
          ...(form.spacing.trim() === '' ? {} : { spacing: form.spacing.trim() }),
          options,
        },
      });
      setTag(tagOf(path));
      setProblem(undefined);
      setSaved(true);
      setTimeout(() => setSaved(false), 3_000);
      onSaved();
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  return (
    <div class="columns">
      <form class="stack" onSubmit={(event) => (event.preventDefault(), void save())}>
        <label class="field">
          <span>Title</span>
          <input value={form.title} onInput={set('title')} />
        </label>
        <label class="field">
          <span>Tags, with commas</span>
          <input value={form.tags} onInput={set('tags')} />
        </label>
        <label class="field">
          <span>The part that counts</span>
          <input class="mono" spellcheck={false} value={form.select} onInput={set('select')} />
        </label>
        <div class="row end">
          <label class="field">
            <span>Weight</span>
            <input inputMode="decimal" size={6} value={form.weight} onInput={set('weight')} />
          </label>
          <label class="field">
            <span>At most every</span>
            <input size={8} placeholder="such as 1h" value={form.spacing} onInput={set('spacing')} />
          </label>
        </div>
        <label class="field">
          <span>Lines to ignore, one regular expression a line</span>
          <textarea rows={2} spellcheck={false} value={form.ignore} onInput={set('ignore')} />
        </label>
        <fieldset class="conditions">
          <legend>Tell only when</legend>
          {conditions.map(([name, label]) => (
            <label key={name} class="row small">
              <span class="grow">{label}</span>
              <input
                size={texts.has(name) ? 18 : 8}
                value={tell[name] ?? ''}
                onInput={(event) => setTell({ ...tell, [name]: event.currentTarget.value })}
              />
            </label>
          ))}
          <label class="row small">
            <span class="grow">Only</span>
            <select
              value={tell['only'] ?? ''}
              onChange={(event) => setTell({ ...tell, only: event.currentTarget.value })}
            >
              <option value="">all changes</option>
              <option>additions</option>
              <option>removals</option>
            </select>
          </label>
        </fieldset>
        <div class="row">
          <button type="submit" class="main">
            Save
          </button>
          <span role="status">{saved ? 'Saved.' : ''}</span>
        </div>
        {problem?.status === 412 ? (
          <p class="notice" role="alert">
            Somebody else has changed these settings since you opened them, so yours were not saved.{' '}
            <button type="button" onClick={onAnew}>
              Load them anew
            </button>
          </p>
        ) : (
          <Trouble problem={problem} />
        )}
      </form>
      <div class="stack wide-gap">
        <Trial page={page} options={options} />
        <PageNoise id={page.id} />
      </div>
    </div>
  );
}

function Trial({ page, options }: { readonly page: Page; readonly options: Readonly<Record<string, unknown>> }) {
  const [tried, setTried] = useState<Tried>();
  const [problem, setProblem] = useState<Problem>();
  const words = JSON.stringify(options);
  useEffect(() => {
    const timer = setTimeout(() => {
      ask('POST /api/pages/{id}/try', { path: { id: page.id }, body: { options } }).then(
        (answer) => {
          setTried(answer.tried);
          setProblem(undefined);
        },
        (error: unknown) => setProblem(error as Problem),
      );
    }, 250);
    return () => clearTimeout(timer);
  }, [words, page.version]);
  return (
    <section class="section" aria-live="polite">
      <h2>On the last versions this would have</h2>
      <Trouble problem={problem} />
      {tried && tried.length === 0 && <p class="soft">There is only one version so far.</p>}
      {tried && tried.length > 0 && (
        <>
          <p>
            told {tried.filter(({ verdict }) => verdict === 'told').length} of {tried.length}
          </p>
          <table>
            <tbody>
              {tried.map(({ version, at, verdict, why }) => (
                <tr key={version}>
                  <td class="number">{version}</td>
                  <td>{dateTime(at)}</td>
                  <td>
                    <Kind kind={verdict} />
                  </td>
                  <td class="soft small">{why}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </section>
  );
}
