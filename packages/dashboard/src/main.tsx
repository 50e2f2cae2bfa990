import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import './style.css';

interface PageBody {
  readonly id: string;
  readonly url: string;
  readonly title: string | null;
  readonly status: string;
  readonly nextProbe: string | null;
}

interface ChangeBody {
  readonly cursor: string;
  readonly url: string;
  readonly kind: string;
  readonly at: string;
  readonly summary: string;
}

async function ask<Body>(path: string, init?: RequestInit): Promise<Body> {
  const answer = await fetch(path, init);
  const body = (await answer.json()) as Body & { detail?: string };
  if (!answer.ok) throw new Error(body.detail ?? `The daemon answered ${answer.status}.`);
  return body;
}

function App() {
  const [pages, setPages] = useState<readonly PageBody[]>([]);
  const [changes, setChanges] = useState<readonly ChangeBody[]>([]);
  const [trouble, setTrouble] = useState('');
  const refresh = async (): Promise<void> => {
    setPages((await ask<{ pages: PageBody[] }>('api/pages?limit=100')).pages);
    setChanges((await ask<{ changes: ChangeBody[] }>('api/changes?order=newest&limit=50')).changes);
  };
  useEffect(() => {
    void refresh();
    const stream = new EventSource('api/changes/stream');
    stream.addEventListener('change', () => void refresh());
    return () => stream.close();
  }, []);
  const add = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const url = new FormData(form).get('url');
    try {
      await ask('api/pages', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ url }),
      });
      setTrouble('');
      form.reset();
      await refresh();
    } catch (error) {
      setTrouble((error as Error).message);
    }
  };
  return (
    <main>
      <h1>Revisit</h1>
      <form onSubmit={(event) => void add(event as unknown as SubmitEvent)}>
        <label>
          Watch a page <input name="url" type="text" required placeholder="https://example.org/" />
        </label>{' '}
        <button type="submit">Watch</button>
        <p role="alert">{trouble}</p>
      </form>
      <h2>Changes</h2>
      {changes.length === 0 && <p>No change was seen yet.</p>}
      <ul>
        {changes.map((change) => (
          <li key={change.cursor}>
            <time>{change.at.slice(0, 19).replace('T', ' ')}</time> {change.kind} {change.url}: {change.summary}
          </li>
        ))}
      </ul>
      <h2>Pages</h2>
      <ul>
        {pages.map((page) => (
          <li key={page.id}>
            {page.title ?? page.url} ({page.status}) {page.nextProbe ? `next look ${page.nextProbe.slice(0, 19)}` : ''}
          </li>
        ))}
      </ul>
    </main>
  );
}

render(<App />, document.body);
