export function Kind({ kind }: { readonly kind: string }) {
  return <span class={`kind ${kind.split(' ')[0]}`}>{kind}</span>;
}
