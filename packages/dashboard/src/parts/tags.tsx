import { harmless } from '../format.ts';
import { address } from '../route.ts';

export function Tags({ tags }: { readonly tags: readonly string[] }) {
  return (
    <>
      {tags.map((tag) => (
        <a key={tag} class="tag one-line" href={address(['pages'], { tag })}>
          <bdi>{harmless(tag)}</bdi>
        </a>
      ))}
    </>
  );
}
