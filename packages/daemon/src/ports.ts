/** What another way of keeping, asking or running needs of the daemon: its ports, the values that pass through them, and the parts of its store that know nothing of SQLite. */
export type { NoisePart } from './detect/noise.ts';
export { ignoredOf } from './detect/shown.ts';
export { Lately } from './dispatch/lately.ts';
export { type RobotsRules, isAllowed, parseRobots } from './observe/robots-text.ts';
export { changeId } from './store/change-id.ts';
export { type Locked, lockFolder } from './store/lock.ts';
export { makeFolder } from './store/make-folder.ts';
export { type Cell, type Emigrant, type MovedTable, movedTables } from './store/emigrate.ts';
export type {
  Added,
  Counts,
  Edit,
  Journal,
  Kept,
  ListedPage,
  LookEntry,
  NewPage,
  PageQuery,
  Past,
  SiteHour,
  Store,
  Version,
  Wish,
} from './store/port.ts';
export type { PageRow, PlannedRow, StateRow } from './store/rows.ts';
export {
  createdIds,
  freshState,
  pageOf,
  plannedColumns,
  plannedOf,
  selectionText,
  settingsText,
  stateValues,
  watchedOf,
} from './store/rows.ts';
export {
  deliveryOf,
  edited,
  newDelivery,
  notByTheHour,
  settledValues,
  subscriptionOf,
  subscriptionRow,
  type DeliveryRow,
  type SubscriptionRow,
} from './store/outbox-rows.ts';
export type { SearchHit, SearchQuery } from './store/search.ts';
export { readQuery, searchable, snippet, type SearchWords, type Term } from './store/search-query.ts';
export {
  baseNumber,
  brought,
  expired,
  keepContent,
  readContent,
  type Content,
  type Contents,
} from './store/versions.ts';
export type { Change, Detection, Projection } from './values/change.ts';
export { type Clock, steadyClock, systemClock } from './values/clock.ts';
export type { Answers, Elsewhere, Question } from './values/elsewhere.ts';
export { type Fault, StoreFailed } from './values/fault.ts';
export { lookKinds, type Look, type LookKind, type PageState, type WatchedPage } from './values/look.ts';
export type { MayAsk, Observation, Observer, Outcome } from './values/observation.ts';
export type { ObserverReport } from './values/observer-report.ts';
export type { Attempt, Delivery, DeliveryStatus, Exceptions, Outbox, PlannedDelivery } from './values/outbox.ts';
export type { NewPageSettings, Page, PageSettings } from './values/page.ts';
export type { Probe, Validators } from './values/probe.ts';
export type { Retention } from './values/retention.ts';
export type { RobotReport } from './values/robot-report.ts';
export type { Subscription, SubscriptionSettings } from './values/subscription.ts';
