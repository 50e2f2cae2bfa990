export { Allowance, type AllowanceState } from './dispatch/allowance.ts';
export { Gates } from './dispatch/gates.ts';
export { Price } from './dispatch/price.ts';
export { RobotPool, type RobotPoolSettings, type RobotPoolState } from './dispatch/robot-pool.ts';
export { AccessTimes } from './learn/access.ts';
export type { UsualTime } from './learn/clock.ts';
export { type EstimatedIntensity, intensityFromEvents, poissonInterval } from './learn/intensity.ts';
export { PageModels } from './learn/page-models.ts';
export type { Parts } from './learn/parts.ts';
export { type Looks, type RateEstimate, estimateRate, maximumLikelihoodRate } from './learn/rate.ts';
export { countsOf, resetFromSeenAges, resetFromSeenLifetimes, usualAges } from './learn/reset.ts';
export { RetrievalTimes } from './learn/retrieval-time.ts';
export { WeekShape } from './learn/week-shape.ts';
export {
  type Chances,
  type Collected,
  type InstantUrgency,
  type Moments,
  gainsFrom,
  momentsOf,
  urgencyAfter,
  urgencyGrowth,
} from './loss/capture.ts';
export { type Asks, type Fading, type FadingPage, bestDistance, fadingOf, lossAt, saved } from './loss/fading.ts';
export { type Lines, type Loss, scheduleLoss } from './loss/loss.ts';
export { obsolescence } from './loss/obsolescence.ts';
export { staleness } from './loss/staleness.ts';
export { type Life, type Urgency, lifeAfter, urgencyAt, utilityLoss } from './loss/utility.ts';
export {
  type AgeChain,
  ageChain,
  agesAfter,
  changedSince,
  dayAgeChain,
  resetAtAge,
  resetFromAges,
  resetFromLifetimes,
  stationaryAges,
  stepsStale,
  unchangedFor,
} from './model/age-chain.ts';
export { type AgeModel, type AgeModelOptions, ageModel } from './model/age-model.ts';
export { type ContentKind, kindOfMediaType, kindOfName } from './model/content-kind.ts';
export { type GroupKeys, type Kin, groupKeys, kinOf, sitePrefix } from './model/kin.ts';
export { NameTree } from './model/name-tree.ts';
export type { ChangeModel, Known } from './model/model.ts';
export { type PoissonModel, homogeneous, poisson, shaped } from './model/poisson.ts';
export { twoStageDensity, twoStageMode, twoStageReset, twoStageSurvival } from './model/two-stage.ts';
export { type Assignment, assign, priceBound } from './plan/assign.ts';
export {
  allKinds,
  bestByTrying,
  gainByDefinition,
  randomEpoch,
  utilityByDefinition,
} from './plan/collect-instances.ts';
export { type CollectMarket, collectMarket } from './plan/collect-market.ts';
export {
  type CertifiedCollection,
  type CollectEffort,
  collectOptimal,
  collectUpperBound,
} from './plan/collect-optimal.ts';
export { type AheadOptions, AheadCollector } from './plan/collect-rolling.ts';
export { type Collection, type CollectProblem, type Collector, collect, wic } from './plan/collect.ts';
export { type WeeklySource, dbWorld, microNet } from './plan/eckstein-traces.ts';
export { type HorizonLoss, type HorizonPage } from './plan/horizon-costs.ts';
export { type HorizonPlan, type HorizonProblem, planHorizon, planStrategies, relaxHorizon } from './plan/horizon.ts';
export {
  type BudgetPoint,
  type MarketPlan,
  type MarketProblem,
  checkMarketPlan,
  lossAgainstBudget,
  planMarket,
} from './plan/market-plan.ts';
export { type HorizonShape, horizonShape } from './plan/market-shape.ts';
export { type Cleared, type Demand, type Market, clear } from './plan/market.ts';
export { type Graph, SlotMatching, matchingSize, maximizeMatching } from './plan/matching.ts';
export { observeGreedily } from './plan/observe-greedy.ts';
export { type Task, bestOrder, expectedTime, orderDrift, payoff } from './plan/order.ts';
export { type ContinuousProblem, planContinuous } from './plan/polite-continuous.ts';
export { type Improved, type Improvement, improve } from './plan/polite-improve.ts';
export { firstArrivalSchedule, thresholdSchedule, uniformSchedule } from './plan/polite-policies.ts';
export { type ReferencePlan, planByTable } from './plan/polite-reference.ts';
export { type Infeasible, type PolitePlan, checkPlan, equalSteps, planPolite, politeCurve } from './plan/polite.ts';
export {
  type DynamicRobotsPlan,
  type DynamicRobotsProblem,
  type RobotKind,
  dynamicRobotsPlan,
  planRobotsByQueue,
} from './plan/robots-dynamic.ts';
export { type ServiceTime, planRobotsForService, serviceShares } from './plan/robots-service.ts';
export {
  type SwitchingPlan,
  type SwitchingProblem,
  planRobotSwitching,
  switchingWork,
  switchingWorkMax,
} from './plan/robots-switching.ts';
export { type UnequalRobotsPlan, planUnequalRobots } from './plan/robots-unequal.ts';
export {
  type QueueShares,
  type RobotsPlan,
  type RobotsProblem,
  bestLoad,
  bestLoadBounds,
  planRobots,
  queueShares,
  robotsCost,
  robotsForLargeBuffer,
  robotsPlan,
} from './plan/robots.ts';
export {
  lengthsOf,
  sequenceByCoupons,
  sequenceByPerfectMatching,
  sequenceTwoSpeed,
} from './plan/sequence-approximate.ts';
export { type MatchedSequence, sequenceByMatching } from './plan/sequence-matching.ts';
export {
  type FleetProblem,
  type FleetSequence,
  checkFleet,
  fleetLowerBound,
  planFleet,
} from './plan/sequence-robots.ts';
export {
  type BestSequence,
  exactByKinds,
  greedyOrder,
  planSequence,
  sequenceLowerBound,
} from './plan/sequence-search.ts';
export { type Sequence, type SequenceTable, checkSequence, inOrder, sequenceTable } from './plan/sequence.ts';
export { type Prices, type Standing, StandingMarket } from './plan/standing-market.ts';
export { type SteadyCurve, evenCurve, steadyCurve } from './plan/steady-curve.ts';
export { type SteadyShape, steadyShape } from './plan/steady-shape.ts';
export {
  type SweepPlan,
  type SweepPriority,
  type SweepProblem,
  type SweepSite,
  greedyPriority,
  planSweep,
  playSweep,
} from './plan/sweep.ts';
export {
  type Link,
  type Move,
  type Observer,
  type VantageChoice,
  type VantageDocument,
  type VantagePoint,
  type VantageTimes,
  batchForObserver,
  breakEven,
  chooseVantage,
  directRound,
  moveObserver,
  remoteTimes,
} from './plan/vantage.ts';
export { type PolicyEntry, policies } from './policy/catalog.ts';
export { KeptMarket } from './policy/kept-market.ts';
export { expectedPerDay } from './policy/policy.ts';
export type { Belief, Choice, DearSite, Finding, MarketPrices, Policy, Watched } from './policy/policy.ts';
export { type PolicyCollection, CollectionPolicy } from './policy/collection-policy.ts';
export { type Fairness, FairOrder } from './policy/fair-order.ts';
export { type Allocation, RatePolicy } from './policy/rate-policy.ts';
export { type Aims, RevisitPolicy } from './policy/revisit.ts';
export { bound, boundEntry } from './simulate/bound.ts';
export { type Calibrated, calibrate } from './simulate/calibrate.ts';
export { spreadChanges, withFalseChanges } from './simulate/estimate-noise.ts';
export { ProbeLog } from './simulate/probe-log.ts';
export { type Random, exponential, integer, normal, random } from './simulate/random.ts';
export { type Replay, type ReplayOptions, replay } from './simulate/replay.ts';
export { type ImportanceIntegral, type Score, type ScoreDetail, scoreProbes } from './simulate/score.ts';
export {
  type Budget,
  type Split,
  borrowingSeconds,
  looksMost,
  looksSimulatedMax,
  probesAllowed,
  splitTrace,
} from './simulate/split.ts';
export {
  type Trace,
  type TraceOutcome,
  firstEvent,
  lastEvent,
  historyRows,
  readCrawlHistory,
  readTraceCsv,
  traceRows,
  type TraceRows,
  traceOf,
  unquoted,
} from './simulate/trace.ts';
export { type SolveOutcome, solve } from './solve/solve.ts';
export { DueQueue } from './time/due-queue.ts';
export {
  type Profile,
  constant,
  integral,
  profileTrouble,
  isConstant,
  mean,
  piecesOn,
  product,
  profile,
  reach,
  scaled,
  sharedPieces,
  shifted,
  valueAt,
} from './time/profile.ts';
export {
  type Zone,
  daySeconds,
  offsetAt,
  secondOfWeek,
  utc,
  weekAtOffset,
  weekOn,
  weekSeconds,
  weekShape,
} from './time/week.ts';
