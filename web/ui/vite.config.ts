import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// memlog embeds three files by these names; so no hashes, no second chunk, and nothing inline.
export default defineConfig({
  base: './',
  plugins: [svelte()],
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        codeSplitting: false,
        entryFileNames: 'app.js',
        assetFileNames: 'app.[ext]',
      },
    },
  },
});
