import { DemoButton } from './demo-button.tsx';
import { address, go } from '../route.ts';

/** What to do when there is nothing yet. */
export function FirstSteps() {
  return (
    <section class="empty" aria-labelledby="first">
      <h2 id="first">Nothing is watched yet</h2>
      <p>
        Name a page, a feed or a JSON address. Revisit looks at it, learns when it tends to change, and spends your
        budget of requests on the looks that are worth it. What changed appears here.
      </p>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const url = new FormData(event.currentTarget).get('url');
          go(address(['add'], { url: typeof url === 'string' ? url : '' }));
        }}
      >
        <label class="grow">
          <span class="hidden-text">Address of a page</span>
          <input
            name="url"
            type="text"
            inputMode="url"
            required
            placeholder="https://example.org/news"
            style={{ width: '100%' }}
          />
        </label>
        <button type="submit" class="main">
          Look at it
        </button>
      </form>
      <div class="row">
        <DemoButton />
        <span class="soft small">some hundred pages on this machine, changing under known laws, in fast time</span>
      </div>
      <p class="soft small">
        Many at once: paste addresses, one a line, under <a href={address(['add'])}>Add</a>; or{' '}
        <code>revisit import FILE</code> takes OPML, sitemaps, and the files of urlwatch and changedetection.io.
      </p>
    </section>
  );
}
