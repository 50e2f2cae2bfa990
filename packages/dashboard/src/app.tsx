import { useEffect, useState } from 'preact/hooks';
import { Rail } from './rail.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { type Place, usePlace } from './route.ts';
import { ask, onLoginNeeded, setClock, useAsk } from './server.ts';
import { lazy } from './lazy.tsx';
import { Changes } from './views/changes.tsx';
import { Login } from './views/login.tsx';
import { Pages } from './views/pages.tsx';

const AddPage = lazy(async () => (await import('./views/add-page.tsx')).AddPage);
const PageView = lazy(async () => (await import('./views/page.tsx')).PageView);
const Plan = lazy(async () => (await import('./views/plan.tsx')).Plan);
const Sites = lazy(async () => (await import('./views/sites.tsx')).Sites);
const SiteView = lazy(async () => (await import('./views/site.tsx')).SiteView);
const Robots = lazy(async () => (await import('./views/robots.tsx')).Robots);
const Lab = lazy(async () => (await import('./views/lab.tsx')).Lab);
const Settings = lazy(async () => (await import('./views/settings.tsx')).Settings);
const Demo = lazy(async () => (await import('./views/demo.tsx')).Demo);
const Search = lazy(async () => (await import('./views/search.tsx')).Search);

/** For how long nothing is drawn before the first numbers: a coordinator waits for others that do not answer. */
const blankMsMax = 500;
/** How often the numbers at the edge are asked for again. */
const statusEveryMs = 3_000;

async function askStatus() {
  const status = await ask('GET /api/status');
  setClock(Date.parse(status.now));
  return status;
}

interface Viewed {
  readonly place: Place;
  readonly pages: number | undefined;
  readonly linked: boolean;
}

function View({ place, pages, linked }: Viewed) {
  const [view, id, part] = place.parts;
  const key = place.parts.join('/');
  switch (view) {
    case 'pages':
      return id === undefined ? (
        <Pages query={place.query} watched={pages} />
      ) : (
        <PageView key={id} id={id} part={part} query={place.query} />
      );
    case 'add':
      return <AddPage key={place.query.get('url') ?? ''} url={place.query.get('url') ?? ''} />;
    case 'plan':
      return <Plan />;
    case 'sites':
      return id === undefined ? <Sites /> : <SiteView key={key} site={id} />;
    case 'robots':
      return <Robots linked={linked} />;
    case 'demo':
      return <Demo />;
    case 'lab':
      return <Lab />;
    case 'settings':
      return <Settings />;
    case 'search':
      return <Search query={place.query} />;
    default:
      return <Changes query={place.query} watched={pages} />;
  }
}

export function App() {
  const place = usePlace();
  const [locked, setLocked] = useState(false);
  const status = useAsk(askStatus, [locked], statusEveryMs);
  useEffect(() => onLoginNeeded(() => setLocked(true)), []);
  const [waited, setWaited] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setWaited(true), blankMsMax);
    return () => clearTimeout(timer);
  }, []);
  const view = place.parts[0] ?? 'changes';
  useEffect(() => {
    document.title = `${view[0]!.toUpperCase()}${view.slice(1)} · Revisit`;
  }, [view]);
  if (locked) return <Login onOpen={() => setLocked(false)} />;
  // The daemon's clock comes with its first answer; times would jump without it.
  if (!status.value && !status.problem && !waited) return <p class="soft">…</p>;
  return (
    <div class="shell">
      <a
        class="skip"
        href="#main"
        onClick={(event) => (event.preventDefault(), document.getElementById('main')?.focus())}
      >
        To the content
      </a>
      <Rail view={view} status={status.value} lost={status.problem !== undefined} />
      <main id="main" tabIndex={-1}>
        {status.value?.healthy === false && (
          <p class="notice" role="alert">
            Nothing that is found can be kept right now (is the disk full?). Looking has stopped and goes on by itself.
          </p>
        )}
        {status.value?.linked === false && (
          <p class="notice" role="alert">
            No robot can be reached (is NATS away?). Nothing is looked at until one can; then it goes on by itself.
          </p>
        )}
        {status.value?.linked !== false && (status.value?.missing ?? 0) > 0 && (
          <p class="notice" role="alert">
            {status.value!.missing === 1 ? 'A coordinator does' : `${status.value!.missing} coordinators do`} not
            answer: what is planned and believed there is missing here until others have taken over.
          </p>
        )}
        <View place={place} pages={status.value?.pages} linked={status.value?.linked !== false} />
      </main>
      <Shortcuts />
    </div>
  );
}
