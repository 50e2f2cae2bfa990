export interface Figure {
  readonly name: string;
  readonly value: preact.ComponentChildren;
  readonly note?: preact.ComponentChildren;
}

/** The few numbers that stand for a view. */
export function Figures({ figures }: { readonly figures: readonly Figure[] }) {
  return (
    <dl class="figures">
      {figures.map(({ name, value, note }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          {note !== undefined && <dd class="small">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}
