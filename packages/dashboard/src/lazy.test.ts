import { parseHTML } from 'linkedom';
import { type ComponentType, h, options, render } from 'preact';
import { expect, test } from 'vitest';
import { lazy } from './lazy.tsx';

test('a view that comes between the first drawing of a place and what follows that drawing is shown there', async () => {
  const { document } = parseHTML('<html><body></body></html>');
  Object.assign(globalThis, { document });
  const after: (() => void)[] = [];
  options.requestAnimationFrame = (callback) => void after.push(callback);
  const View: ComponentType = () => h('h1', {}, 'Here');
  let come: (view: ComponentType) => void = () => {};
  const coming = new Promise<ComponentType>((done) => (come = done));
  const Lazy = lazy(() => coming);
  const draw = (key: string): void => render(h(Lazy, { key }), document.body);
  const followed = (): void => after.splice(0).forEach((callback) => callback());
  draw('one');
  followed();
  draw('two');
  come(View);
  await coming;
  await Promise.resolve();
  followed();
  await expect.poll(() => document.body.innerHTML).toBe('<h1>Here</h1>');
});
