import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vite';
import { svelte } from '@sveltejs/vite-plugin-svelte';

/** The licences of all that is in the bundle, with their texts. */
function licences(): Plugin {
  return {
    name: 'licences',
    generateBundle() {
      const folders = new Set(['node_modules/@fontsource-variable/inter']);
      for (const id of this.getModuleIds()) {
        const found = /node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id);
        if (found) folders.add(found[0]);
      }
      const parts = [...folders].sort().map(folder => {
        const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
        const text = readdirSync(folder).find(name => /^licen[cs]e/i.test(name));
        const licence = text ? readFileSync(join(folder, text), 'utf8').trim() : '';
        return `${about.name} ${about.version}: ${about.license}\n\n${licence}\n`;
      });
      this.emitFile({ type: 'asset', fileName: 'third-party.txt', source: parts.join('\n----\n\n') });
    },
  };
}

// The page runs under a policy that takes no HTML out of strings and no styles within tags:
// elements are made one by one (`fragments`), and nothing is inlined as `data:`.
export default defineConfig({
  base: './',
  plugins: [svelte({ compilerOptions: { fragments: 'tree' } }), licences()],
  build: {
    target: 'es2022',
    modulePreload: false,
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    reportCompressedSize: false,
    emptyOutDir: true,
  },
});
