import { Foreign } from './foreign.tsx';

/** A filter that is on, named by what it lets through; pressing it takes it off. */
export function FilterChip({ name, onRemove }: { readonly name: string; readonly onRemove: () => void }) {
  return (
    <button type="button" class="chip" title="Show all again" onClick={onRemove}>
      <Foreign class="one-line" text={name.length > 60 ? `${name.slice(0, 60)}…` : name} /> ×
    </button>
  );
}
