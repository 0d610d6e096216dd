import * as module from 'node:module';

/** Keeps compiled code between starts, where this Node can (22.1 and newer). */
export function enableCompileCache(): void {
  if ('enableCompileCache' in module && typeof module.enableCompileCache === 'function') module.enableCompileCache();
}
