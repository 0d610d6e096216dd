#!/usr/bin/env node
/** Bundles the command and the SDK. Split into pieces, so that a command loads only what it uses. */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, process.argv[2] ?? 'dist');

const built = await build({
  absWorkingDir: root,
  entryPoints: { yard: 'src/cli/main.ts', index: 'src/client/index.ts', supervisor: 'src/cli/daemon/supervisor.ts' },
  outdir: dist,
  bundle: true,
  splitting: true,
  chunkNames: 'chunk-[hash]',
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  // Node shows the line where an error that nobody caught was thrown: not a whole chunk of it.
  lineLimit: 120,
  sourcemap: false,
  legalComments: 'none',
  // A native module: it stays outside, as do the packages that are only CommonJS and would need a `require`.
  external: ['@photostructure/sqlite', '@lydell/node-pty'],
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
  write: false,
});

// A yard that runs meanwhile finds either the old pieces or the new ones: names appear whole, and old ones go last.
mkdirSync(dist, { recursive: true });
for (const { path, contents } of built.outputFiles) {
  const isCommand = path.endsWith('/yard.js');
  writeFileSync(`${path}.new`, isCommand ? startedByShell(contents) : contents, { mode: isCommand ? 0o755 : 0o644 });
  renameSync(`${path}.new`, path);
}
const current = new Set(built.outputFiles.map(({ path }) => basename(path)));
const staleMs = Date.now() - 60_000;
for (const name of readdirSync(dist).filter((file) => /^chunk-.*\.js$/.test(file) && !current.has(file))) {
  if (statSync(join(dist, name)).mtimeMs < staleMs) rmSync(join(dist, name));
}

/**
 * Node 20 takes `--env-file` for itself wherever it stands behind the script, and it is an option of `yard run`; what
 * stands behind `--` it leaves alone. A first line can pass `--` in no way that every system knows, but a shell can:
 * it reads the second line as a command, and Node as text that does nothing.
 */
function startedByShell(contents) {
  const text = new TextDecoder().decode(contents);
  return text.replace(/^#!.*\n/, `#!/bin/sh\n':' //; exec node -- "$0" "$@"\n`);
}
