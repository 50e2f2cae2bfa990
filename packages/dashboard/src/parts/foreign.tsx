import { harmless } from '../format.ts';

/** Text that somebody else wrote: isolated, so that its direction stays its own, and without what steers. */
export function Foreign({ text, class: name }: { readonly text: string; readonly class?: string }) {
  return <bdi class={name}>{harmless(text)}</bdi>;
}
