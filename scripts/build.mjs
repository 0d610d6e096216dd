#!/usr/bin/env node
/** Bundles the command and the SDK. Split into pieces, so that a command loads only what it uses. */
import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');

mkdirSync(dist, { recursive: true });
for (const name of readdirSync(dist, { withFileTypes: true }).filter(
  (entry) => entry.isFile() && /\.js(\.map)?$/.test(entry.name),
)) {
  rmSync(join(dist, name.name));
}

await build({
  absWorkingDir: root,
  entryPoints: { yard: 'src/cli/main.ts', index: 'src/client/index.ts' },
  outdir: dist,
  bundle: true,
  splitting: true,
  chunkNames: 'chunk-[hash]',
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  sourcemap: false,
  legalComments: 'none',
  // A native module: it stays outside, as do the packages that are only CommonJS and would need a `require`.
  external: ['@photostructure/sqlite'],
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
chmodSync(join(dist, 'yard.js'), 0o755);
