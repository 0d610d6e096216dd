import { availableParallelism, homedir, hostname, totalmem, userInfo } from 'node:os';
import type { Machine } from '../machine.ts';

const fallbackPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export function createNodeMachine(): Machine {
  return {
    hostname,
    user: userName,
    cpus: availableParallelism,
    memoryMiB: () => Math.floor(totalmem() / 1024 / 1024),
    platform,
    path: () => process.env.PATH || fallbackPath,
    homeDirectory: homedir,
  };
}

function platform(): 'linux' | 'darwin' {
  if (process.platform === 'linux' || process.platform === 'darwin') return process.platform;
  throw new Error(`Runyard runs on Linux and macOS; this is ${process.platform}`);
}

/** A container may run as a number that no user database knows. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
