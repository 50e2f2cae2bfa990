/** The pages of a daemon, once the newest version kept of each has these words. */
import { eventually } from './command.ts';

export function everyPageHas(
  words: string,
  url: string,
): Promise<readonly { readonly id: string; readonly version: number }[]> {
  return eventually(async () => {
    const { pages } = (await (await fetch(`${url}/api/pages`)).json()) as { pages: { id: string; version: number }[] };
    const texts = await Promise.all(
      pages.map(async ({ id, version }) => (await fetch(`${url}/api/pages/${id}/versions/${version}`)).text()),
    );
    return texts.every((text) => text.includes(words)) && pages;
  });
}
