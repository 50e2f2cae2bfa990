import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { SubscriptionForm } from './subscription-form.tsx';
import { SubscriptionPast } from './subscription-past.tsx';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Foreign } from '../parts/foreign.tsx';
import { Kind } from '../parts/kind.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { ago } from '../format.ts';
import { Problem, type Subscription, ask, useAsk, useNow } from '../server.ts';

const targetOf = ({ deliver }: Subscription): string => {
  const fields = deliver as { kind: string; url?: string; to?: string; chat?: string; room?: string };
  return fields.url ?? fields.to ?? fields.room ?? fields.chat ?? '';
};

/** Who is told of what, and what never arrived. */
export function Subscriptions() {
  const list = useAsk(() => ask('GET /api/subscriptions'), []);
  const dead = useAsk(() => ask('GET /api/deliveries', { query: { status: 'dead', limit: 20 } }), [], 15_000);
  const [problem, setProblem] = useState<Problem>();
  const [said, setSaid] = useState('');
  const [adding, setAdding] = useState(false);
  const [open, setOpen] = useState('');
  const now = useNow();
  const attempt = async (work: () => Promise<string>): Promise<void> => {
    try {
      setSaid(await work());
      setProblem(undefined);
      list.reload();
      dead.reload();
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  const test = (id: string): Promise<void> =>
    attempt(async () => {
      const { taken, fault } = await ask('POST /api/subscriptions/{id}/test', { path: { id } });
      if (!taken) throw new Problem(422, fault?.code ?? 'refused', fault?.sentence ?? 'The receiver did not take it.');
      return 'The test message was taken.';
    });
  const pause = ({ id, paused }: Subscription): Promise<void> =>
    attempt(async () => {
      await ask('PATCH /api/subscriptions/{id}', { path: { id }, body: { paused: !paused } });
      return paused ? 'It goes on.' : 'It is paused.';
    });
  const remove = (id: string): Promise<void> =>
    attempt(async () => {
      await ask('DELETE /api/subscriptions/{id}', { path: { id } });
      return 'It is gone, with what waited for it.';
    });
  return (
    <section class="section">
      <h2>Subscriptions</h2>
      <p class="soft small">
        Changes that match go to a webhook, a mailbox or a chat, at least once, in order, for days if the receiver is
        down.
      </p>
      <Trouble problem={problem ?? list.problem} />
      <span role="status">{said}</span>
      {list.value && list.value.subscriptions.length > 0 && (
        <div class="scrolls">
          <table class="stacks">
            <tbody>
              {list.value.subscriptions.map((subscription) => (
                <Fragment key={subscription.id}>
                  <tr>
                    <td>
                      <Foreign text={subscription.name ?? 'unnamed'} /> {subscription.paused && <Kind kind="paused" />}
                      <div class="soft small mono">
                        {subscription.match === '' ? 'every change' : <Foreign text={subscription.match} />}
                      </div>
                    </td>
                    <td class="small">
                      {subscription.deliver.kind} <Foreign class="soft" text={targetOf(subscription)} />
                    </td>
                    <td class="number">
                      <span class="row" style={{ justifyContent: 'end' }}>
                        <button type="button" onClick={() => void test(subscription.id)}>
                          Send a test
                        </button>
                        <button
                          type="button"
                          aria-expanded={open === subscription.id}
                          onClick={() => setOpen(open === subscription.id ? '' : subscription.id)}
                        >
                          Past matches
                        </button>
                        <button type="button" onClick={() => void pause(subscription)}>
                          {subscription.paused ? 'Resume' : 'Pause'}
                        </button>
                        <ConfirmButton
                          label="Remove"
                          sure="Really remove?"
                          onConfirm={() => void remove(subscription.id)}
                        />
                      </span>
                    </td>
                  </tr>
                  {open === subscription.id && (
                    <tr>
                      <td colSpan={3}>
                        <SubscriptionPast subscription={subscription} />
                      </td>
                    </tr>
                  )}
                </Fragment>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {adding ? (
        <SubscriptionForm
          onDone={(made) => {
            setAdding(false);
            if (made) list.reload();
          }}
        />
      ) : (
        <div>
          <button type="button" onClick={() => setAdding(true)}>
            Add a subscription
          </button>
        </div>
      )}
      {dead.value && dead.value.deliveries.length > 0 && (
        <>
          <h3>Never taken by their receiver</h3>
          <table>
            <tbody>
              {dead.value.deliveries.map((delivery) => (
                <tr key={delivery.id}>
                  <td>{ago(delivery.planned, now)}</td>
                  <td class="small">
                    {delivery.attempts} attempts; <Foreign text={delivery.fault?.sentence ?? ''} />
                  </td>
                  <td class="number">
                    <button
                      type="button"
                      onClick={() =>
                        void attempt(async () => {
                          await ask('POST /api/deliveries/{id}/replay', { path: { id: delivery.id } });
                          return 'It is on its way again.';
                        })
                      }
                    >
                      Send again
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </section>
  );
}
