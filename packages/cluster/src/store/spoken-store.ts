/** The shared store, which tells the other coordinators of what it was asked to change. */
import { type Change, type Kept, type Look, type NewPageSettings, type WatchedPage, createdIds } from 'revisit/ports';
import { PostgresStore } from './postgres.ts';

export class SpokenStore extends PostgresStore {
  tell: (ids: readonly string[]) => void = () => {};
  /** All that follows from these probes is kept, or nothing does. */
  onEnded: (probeIds: readonly string[]) => void = () => {};

  override async commit(looks: readonly Look[]): Promise<Kept<readonly Change[]>> {
    const kept = await super.commit(looks);
    if (kept.kind === 'kept') this.onEnded(looks.map(({ probeId }) => probeId));
    return kept;
  }

  override async finished(probeIds: readonly string[]): Promise<Kept<undefined>> {
    const kept = await super.finished(probeIds);
    if (kept.kind === 'kept') this.onEnded(probeIds);
    return kept;
  }

  override async addPages(...given: Parameters<PostgresStore['addPages']>): ReturnType<PostgresStore['addPages']> {
    const kept = await super.addPages(...given);
    const [, , past] = given;
    if (kept.kind === 'kept') this.tell(past ? kept.value.map(({ page }) => page.page.id) : createdIds(kept.value));
    return kept;
  }

  /** Whoever holds the page lets go of what it remembers of it, and reads this before the next look. */
  override async setDetectState(id: string, detectState: string): Promise<Kept<undefined>> {
    const kept = await super.setDetectState(id, detectState);
    if (kept.kind === 'kept') this.tell([id]);
    return kept;
  }

  override async updatePages(
    changes: readonly { readonly id: string; readonly settings: Partial<NewPageSettings> }[],
  ): Promise<Kept<readonly WatchedPage[]>> {
    const kept = await super.updatePages(changes);
    if (kept.kind === 'kept') this.tell(kept.value.map(({ page }) => page.id));
    return kept;
  }

  override async removePages(ids: readonly string[]): Promise<Kept<readonly string[]>> {
    const kept = await super.removePages(ids);
    if (kept.kind === 'kept') this.tell(kept.value);
    return kept;
  }
}
