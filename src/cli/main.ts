#!/usr/bin/env node
import { enableCompileCache } from './compile-cache.ts';
import { runCli } from './run-cli.ts';

enableCompileCache();
process.exitCode = await runCli(process.argv.slice(2), import.meta.filename);
