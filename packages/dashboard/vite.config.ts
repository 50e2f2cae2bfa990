import { defineConfig } from 'vite';

export default defineConfig({
  // Relative addresses, so that the page works behind a proxy under any path.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: { outDir: 'dist', emptyOutDir: true, assetsInlineLimit: 0, modulePreload: { polyfill: false } },
});
