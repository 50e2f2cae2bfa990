import type { Register } from '../program.ts';

export interface CommandModule {
  readonly names: readonly string[];
  /** Loaded only when one of its commands is called, or help lists them all: most calls need little of the program. */
  readonly load: () => Promise<Register>;
}

/** In the order in which `revisit --help` lists them. */
export const commands: readonly CommandModule[] = [
  { names: ['serve'], load: async () => (await import('./serve.ts')).registerServe },
  { names: ['add', 'edit'], load: async () => (await import('./add.ts')).registerAdd },
  { names: ['pages', 'remove', 'pause', 'resume'], load: async () => (await import('./pages.ts')).registerPages },
  { names: ['check'], load: async () => (await import('./check.ts')).registerCheck },
  { names: ['changes'], load: async () => (await import('./changes.ts')).registerChanges },
  { names: ['show'], load: async () => (await import('./show.ts')).registerShow },
  { names: ['diff'], load: async () => (await import('./diff.ts')).registerDiff },
  { names: ['search'], load: async () => (await import('./search.ts')).registerSearch },
  {
    names: ['subscribe', 'subscriptions', 'unsubscribe'],
    load: async () => (await import('./subscribe.ts')).registerSubscribe,
  },
  { names: ['doctor', 'backup'], load: async () => (await import('./doctor.ts')).registerDoctor },
  { names: ['plan'], load: async () => (await import('./plan.ts')).registerPlan },
  { names: ['token'], load: async () => (await import('./token.ts')).registerToken },
  { names: ['solve'], load: async () => (await import('./solve.ts')).registerSolve },
  { names: ['simulate'], load: async () => (await import('./simulate.ts')).registerSimulate },
  { names: ['import'], load: async () => (await import('./import.ts')).registerImport },
  { names: ['export'], load: async () => (await import('./export.ts')).registerExport },
  { names: ['access'], load: async () => (await import('./access.ts')).registerAccess },
  { names: ['migrate'], load: async () => (await import('./migrate.ts')).registerMigrate },
  { names: ['observer'], load: async () => (await import('./observer.ts')).registerObserver },
  { names: ['robot'], load: async () => (await import('./robot.ts')).registerRobot },
  { names: ['demo'], load: async () => (await import('./demo.ts')).registerDemo },
  { names: ['reproduce'], load: async () => (await import('./reproduce.ts')).registerReproduce },
  { names: ['completion', 'manual'], load: async () => (await import('./completion.ts')).registerCompletion },
];
