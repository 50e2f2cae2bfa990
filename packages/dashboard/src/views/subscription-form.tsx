import { useEffect, useState } from 'preact/hooks';
import { Foreign } from '../parts/foreign.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { bare, dateTime } from '../format.ts';
import { type Answer, type Problem, ask } from '../server.ts';

type Tried = Answer<'POST /api/subscriptions/try'>;

/** What each way of telling needs to know. */
const ways: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  webhook: [
    ['url', 'Address'],
    ['secret', 'Secret for the signature (optional)'],
  ],
  email: [['to', 'To']],
  ntfy: [['url', 'Address of the topic']],
  slack: [['url', 'Address of the incoming webhook']],
  discord: [['url', 'Address of the webhook']],
  telegram: [
    ['token', 'Token of the bot'],
    ['chat', 'Chat'],
  ],
  matrix: [
    ['url', 'Home server'],
    ['room', 'Room'],
    ['token', 'Access token'],
  ],
};

/** A new subscription, with the past changes it would have told of as it is typed. */
export function SubscriptionForm({ onDone }: { readonly onDone: (made: boolean) => void }) {
  const [name, setName] = useState('');
  const [match, setMatch] = useState('');
  const [kind, setKind] = useState('webhook');
  const [fields, setFields] = useState<Readonly<Record<string, string>>>({});
  const [digest, setDigest] = useState('');
  const [quiet, setQuiet] = useState('');
  const [tried, setTried] = useState<Tried>();
  const [wrong, setWrong] = useState<Problem>();
  const [problem, setProblem] = useState<Problem>();
  useEffect(() => {
    const timer = setTimeout(() => {
      ask('POST /api/subscriptions/try', { body: { match } }).then(
        (answer) => {
          setTried(answer);
          setWrong(undefined);
        },
        (error: unknown) => setWrong(error as Problem),
      );
    }, 250);
    return () => clearTimeout(timer);
  }, [match]);
  const save = async (): Promise<void> => {
    const given = Object.fromEntries(
      (ways[kind] ?? []).map(([field]) => [field, fields[field] ?? '']).filter(([, value]) => value !== ''),
    );
    try {
      await ask('POST /api/subscriptions', {
        body: {
          match,
          deliver: { kind, ...given },
          zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
          ...(name === '' ? {} : { name }),
          ...(digest === '' ? {} : { digest }),
          ...(quiet === '' ? {} : { quiet }),
        },
      });
      onDone(true);
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  return (
    <div class="columns">
      <form class="stack" onSubmit={(event) => (event.preventDefault(), void save())}>
        <label class="field">
          <span>Which changes; empty for all</span>
          <input
            class="mono"
            spellcheck={false}
            placeholder='site = example.org and (tag = prices or added ~ "in stock")'
            value={match}
            onInput={(event) => setMatch(event.currentTarget.value)}
          />
        </label>
        <Trouble problem={wrong} />
        <div class="row end">
          <label class="field">
            <span>Name</span>
            <input value={name} onInput={(event) => setName(event.currentTarget.value)} />
          </label>
          <label class="field">
            <span>Tell by</span>
            <select value={kind} onChange={(event) => setKind(event.currentTarget.value)}>
              {Object.keys(ways).map((way) => (
                <option key={way}>{way}</option>
              ))}
            </select>
          </label>
          <label class="field">
            <span>Gather</span>
            <select value={digest} onChange={(event) => setDigest(event.currentTarget.value)}>
              <option value="">at once</option>
              <option>hourly</option>
              <option>daily</option>
            </select>
          </label>
          <label class="field">
            <span>Quiet hours</span>
            <input
              size={12}
              placeholder="22:00-07:00"
              value={quiet}
              onInput={(event) => setQuiet(event.currentTarget.value)}
            />
          </label>
        </div>
        {(ways[kind] ?? []).map(([field, label]) => (
          <label key={`${kind} ${field}`} class="field">
            <span>{label}</span>
            <input
              {...(field === 'secret' || field === 'token'
                ? ({ type: 'password' } as const)
                : ({ type: 'text' } as const))}
              autoComplete="off"
              value={fields[field] ?? ''}
              onInput={(event) => setFields({ ...fields, [field]: event.currentTarget.value })}
            />
          </label>
        ))}
        <div class="row">
          <button type="submit" class="main">
            Subscribe
          </button>
          <button type="button" class="plain" onClick={() => onDone(false)}>
            Cancel
          </button>
        </div>
        <Trouble problem={problem} />
      </form>
      <div class="section" aria-live="polite">
        <h3>{tried ? tried.sentence : 'On the past changes'}</h3>
        <ul class="small">
          {tried?.examples.slice(0, 8).map((change) => (
            <li key={change.cursor} class="one-line">
              <span class="soft">{dateTime(change.at)}</span> <Foreign text={change.title ?? bare(change.url)} />:{' '}
              <Foreign text={change.summary} />
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
