import { Foreign } from '../parts/foreign.tsx';
import { ago } from '../format.ts';
import { ask, useAsk, useNow } from '../server.ts';

/** Parts of the page that change without meaning anything, found by watching; each can be watched again. */
export function PageNoise({ id }: { readonly id: string }) {
  const noise = useAsk(() => ask('GET /api/pages/{id}/noise', { path: { id } }), [id]);
  const now = useNow();
  const parts = noise.value?.noise ?? [];
  if (parts.length === 0) return null;
  const set = async (part: string, ignored: boolean): Promise<void> => {
    await ask('PATCH /api/pages/{id}/noise/{part}', { path: { id, part }, body: { ignored } });
    noise.reload();
  };
  return (
    <section class="section">
      <h2>Noise, ignored</h2>
      <ul class="stack">
        {parts.map((part) => (
          <li key={part.id} class="row">
            <label class="row small grow">
              <input
                type="checkbox"
                checked={part.ignored}
                onChange={(event) => void set(part.id, event.currentTarget.checked)}
              />
              <span>
                ignore <Foreign class="mono" text={part.example.slice(0, 160)} />{' '}
                <span class="soft">
                  {part.why}, since {ago(part.since, now)}
                </span>
              </span>
            </label>
          </li>
        ))}
      </ul>
    </section>
  );
}
