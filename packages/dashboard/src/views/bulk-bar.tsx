import { useState } from 'preact/hooks';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { type Page, type Problem, ask } from '../server.ts';

interface Props {
  readonly selected: readonly Page[];
  readonly total: number;
  readonly filter: {
    text?: string | undefined;
    tag?: string | undefined;
    site?: string | undefined;
    status?: 'new' | 'present' | 'gone' | 'unreadable' | 'paused' | 'trouble' | undefined;
  };
  readonly onDone: () => void;
}

type Bulk = Parameters<typeof ask<'POST /api/pages/bulk'>>[1]['body'];

/** What is done to the selected pages at once, or to all that fit the filter. */
export function BulkBar({ selected, total, filter, onDone }: Props) {
  const [all, setAll] = useState(false);
  const [tag, setTag] = useState('');
  const [weight, setWeight] = useState('');
  const [problem, setProblem] = useState<Problem>();
  if (selected.length === 0 && !all)
    return total > 1 ? (
      <div class="row small soft">
        <button type="button" class="plain small" onClick={() => setAll(true)}>
          Edit all {total} that fit
        </button>
      </div>
    ) : null;
  const which = all ? { match: filter } : { ids: selected.map(({ id }) => id) };
  const count = all ? total : selected.length;
  const run = async (what: Omit<Bulk, 'ids' | 'match'>): Promise<void> => {
    try {
      await ask('POST /api/pages/bulk', { body: { ...which, ...what } });
      setProblem(undefined);
      setAll(false);
      onDone();
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  return (
    <div class="stack" role="toolbar" aria-label="Edit the selected pages">
      <div class="row">
        <strong>{count === 1 ? '1 page' : `${count} pages`}</strong>
        <button type="button" onClick={() => void run({ do: 'probe' })}>
          Look now
        </button>
        <button type="button" onClick={() => void run({ do: 'update', set: { paused: true } })}>
          Pause
        </button>
        <button type="button" onClick={() => void run({ do: 'update', set: { paused: false } })}>
          Resume
        </button>
        <input
          aria-label="Tag"
          placeholder="tag"
          size={10}
          value={tag}
          onInput={(event) => setTag(event.currentTarget.value)}
        />
        <button type="button" disabled={tag === ''} onClick={() => void run({ do: 'update', addTags: [tag] })}>
          Add tag
        </button>
        <button type="button" disabled={tag === ''} onClick={() => void run({ do: 'update', removeTags: [tag] })}>
          Remove tag
        </button>
        <input
          aria-label="Weight"
          placeholder="weight"
          size={6}
          inputMode="decimal"
          value={weight}
          onInput={(event) => setWeight(event.currentTarget.value)}
        />
        <button
          type="button"
          disabled={!(Number(weight) > 0)}
          onClick={() => void run({ do: 'update', set: { weight: Number(weight) } })}
        >
          Set weight
        </button>
        <ConfirmButton label="Remove" sure={`Really remove ${count}?`} onConfirm={() => void run({ do: 'remove' })} />
        <button type="button" class="plain" onClick={() => (setAll(false), onDone())}>
          Cancel
        </button>
      </div>
      <Trouble problem={problem} />
    </div>
  );
}
