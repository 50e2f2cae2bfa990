import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { ask, useAsk } from '../server.ts';

/** Addresses for feed readers, which cannot send a token. */
export function Feeds() {
  const feeds = useAsk(() => ask('GET /api/feeds'), []);
  const address = feeds.value && new URL(`.${feeds.value.changes}`, document.baseURI).href;
  return (
    <section class="section">
      <h2>Feed of all changes</h2>
      <Trouble problem={feeds.problem} />
      {address && (
        <div class="row">
          <input
            class="grow mono"
            readOnly
            aria-label="Secret address of the feed"
            value={address}
            onFocus={(event) => event.currentTarget.select()}
          />
          <ConfirmButton
            label="Make new addresses"
            sure="The old ones stop working. Sure?"
            onConfirm={() => void ask('POST /api/feeds/renew').then(feeds.reload)}
          />
        </div>
      )}
      <p class="soft small">Whoever knows the address can read the feed.</p>
    </section>
  );
}
