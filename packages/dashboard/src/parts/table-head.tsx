interface Props {
  readonly words: readonly string[];
  /** Of columns of numbers, which stand to the right. */
  readonly numbers: readonly string[];
}

/** Names of columns: words first, then numbers. */
export function TableHead({ words, numbers }: Props) {
  return (
    <thead>
      <tr>
        {words.map((name) => (
          <th key={name} scope="col">
            {name}
          </th>
        ))}
        {numbers.map((name) => (
          <th key={name} scope="col" class="number">
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}
