import { Foreign } from '../parts/foreign.tsx';
import { Kind } from '../parts/kind.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { ago, bare } from '../format.ts';
import { address } from '../route.ts';
import { type Subscription, ask, useAsk, useNow } from '../server.ts';

/** What a subscription would match of the last changes, and what became of its messages. */
export function SubscriptionPast({ subscription }: { readonly subscription: Subscription }) {
  const { id, match } = subscription;
  const matches = useAsk(() => ask('POST /api/subscriptions/try', { body: { match, last: 1_000 } }), [match]);
  const sent = useAsk(() => ask('GET /api/deliveries', { query: { subscription: id, limit: 10 } }), [id], 15_000);
  const now = useNow();
  const deliveries = sent.value?.deliveries ?? [];
  return (
    <div class="columns past">
      <section class="section">
        <h3>{matches.value?.sentence ?? 'Past matches'}</h3>
        <Trouble problem={matches.problem} />
        <ul class="small">
          {matches.value?.examples.slice(0, 10).map((change) => (
            <li key={change.cursor} class="one-line">
              <span class="soft">{ago(change.at, now)}</span>{' '}
              <a href={address(['pages', change.pageId])}>
                <Foreign text={change.title ?? bare(change.url)} />
              </a>{' '}
              <Foreign text={change.summary} />
            </li>
          ))}
        </ul>
      </section>
      <section class="section">
        <h3>Messages</h3>
        <Trouble problem={sent.problem} />
        {sent.value && deliveries.length === 0 && <p class="soft small">None yet.</p>}
        <ul class="small">
          {deliveries.map((delivery) => (
            <li key={delivery.id} class="one-line">
              <span class="soft">{ago(delivery.planned, now)}</span>{' '}
              <Kind
                kind={delivery.status === 'sent' ? 'told' : delivery.status === 'dead' ? 'failed' : delivery.status}
              />{' '}
              {delivery.cursors.length === 1 ? '1 change' : `${delivery.cursors.length} changes`}
              {delivery.fault && (
                <>
                  {', '}
                  <Foreign text={delivery.fault.sentence} />
                </>
              )}
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}
