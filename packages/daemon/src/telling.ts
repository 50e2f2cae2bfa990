/** How changes come to be told: subscriptions are asked before a change is kept, the courier carries what was planned. */
import type { Store } from './store/port.ts';
import type { WordsQuestion } from './indexing/aside-worker.ts';
import { type DifferenceInWords, inWords, shownDifference } from './detect/shown.ts';
import { Courier, type CourierParts, type Send, type Sent } from './tell/courier.ts';
import type { ChangedTexts } from './tell/match.ts';
import { messageOf, type Message } from './tell/message.ts';
import { Subscribers, tryOut, type Tryout } from './tell/subscribers.ts';
import type { Expression } from './tell/expression.ts';
import type { Entry } from './tell/template.ts';
import type { Change, Projection } from './values/change.ts';
import type { Clock } from './values/clock.ts';
import type { Look } from './values/look.ts';
import type { Delivery, PlannedDelivery } from './values/outbox.ts';
import type { Subscription } from './values/subscription.ts';

/** Comparing texts that are longer takes the loop as long as a thousand looks without news. */
const largeBytes = 256 * 2 ** 10;

type CompareAside = (question: WordsQuestion) => Promise<DifferenceInWords | undefined>;

export class Telling {
  readonly subscribers: Subscribers;
  readonly courier: Courier;
  readonly #store: Store;
  readonly #send: Send;
  readonly #compareAside: CompareAside | undefined;

  /** `compareAside` compares large versions beside the loop, where the store is a file that a thread can read. */
  constructor(store: Store, clock: Clock, send: Send, log: CourierParts['log'], compareAside?: CompareAside) {
    this.#store = store;
    this.#send = send;
    this.#compareAside = compareAside;
    this.subscribers = new Subscribers(store.outbox);
    this.courier = new Courier({
      outbox: store.outbox,
      clock,
      send,
      log,
      message: (delivery, subscription) => this.#message(delivery, subscription),
    });
  }

  /** For the loop: who is to be told of what this look found, and with it, where that is known, what came and went. */
  async planned(look: Look, words?: ChangedTexts): Promise<readonly PlannedDelivery[]> {
    const { change, projection, pageId, state, endedAtMs } = look;
    if (!change) return [];
    return this.subscribers.planned(change, endedAtMs, async () => {
      if (words) return words;
      const from =
        change.fromVersion === undefined ? '' : ((await this.#store.versionText(pageId, change.fromVersion)) ?? '');
      const to =
        projection?.text ??
        (change.toVersion === undefined ? from : ((await this.#store.versionText(pageId, change.toVersion)) ?? ''));
      return inWords(shownDifference(from, to, projection?.format ?? 'text', state.detectState));
    });
  }

  /** "Would have matched 12 of the last 200." */
  async tryOut(expression: Expression, last = 200): Promise<Tryout> {
    return tryOut(expression, await this.#store.latestChanges({ limit: last }), (change) => this.texts(change));
  }

  async texts(change: Change): Promise<ChangedTexts & { readonly lines: string }> {
    const { pageId, fromVersion, toVersion } = change;
    if (fromVersion === undefined || toVersion === undefined) return noWords;
    const versions = (await this.#store.versions(pageId)).filter(({ number }) =>
      [fromVersion, toVersion].includes(number),
    );
    const format = (versions.find(({ number }) => number === toVersion)?.format ?? 'text') as Projection['format'];
    const detectState = (await this.#store.page(pageId))?.state.detectState;
    if (this.#compareAside && this.#store.file !== undefined && versions.some(({ bytes }) => bytes > largeBytes))
      return (await this.#compareAside({ pageId, from: fromVersion, to: toVersion, format, detectState })) ?? noWords;
    const [from, to] = [
      await this.#store.versionText(pageId, fromVersion),
      await this.#store.versionText(pageId, toVersion),
    ];
    if (from === undefined || to === undefined) return noWords;
    return inWords(shownDifference(from, to, format, detectState));
  }

  /** A message about the newest change, or about one made up while there is none, sent now and kept nowhere. */
  async test(subscription: Subscription, nowMs: number): Promise<Sent> {
    const change = (await this.#store.latestChanges({ limit: 1 }))[0] ?? madeUp(nowMs);
    const { added, removed, lines } = await this.texts(change);
    const delivery: Delivery = {
      id: `test-${nowMs}`,
      subscriptionId: subscription.id,
      status: 'due',
      sequences: [change.sequence],
      dueMs: nowMs,
      attempts: 0,
      plannedAtMs: nowMs,
    };
    const message = messageOf(delivery, subscription, [{ change, added, removed, difference: lines }]);
    return this.#send(subscription, { ...message, title: `Test: ${message.title}` }, nowMs);
  }

  async #message(delivery: Delivery, subscription: Subscription): Promise<Message | undefined> {
    const entries: Entry[] = [];
    for (const change of await this.#store.outbox.changesOf(delivery)) {
      const { added, removed, lines } = await this.texts(change);
      entries.push({ change, added, removed, difference: lines });
    }
    return entries.length === 0 ? undefined : messageOf(delivery, subscription, entries);
  }
}

const noWords: DifferenceInWords = { added: '', removed: '', lines: '' };

function madeUp(atMs: number): Change {
  return {
    sequence: 0,
    id: 'test',
    pageId: 'test',
    url: 'https://example.org/',
    site: 'example.org',
    title: 'A page that does not exist',
    tags: [],
    kind: 'changed',
    atMs,
    count: 1,
    summary: 'This is what a change will look like.',
  };
}
