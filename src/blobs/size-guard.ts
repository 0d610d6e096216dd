import { TreeRefusal } from './tree-refusal.ts';
import type { Found } from './walk.ts';

export interface WorkspaceLimits {
  readonly maxBytes: number;
  readonly maxFiles: number;
}

interface Sums {
  files: number;
  bytes: number;
}

export interface SizeGuard {
  add(found: readonly Found[]): void;
  /** Throws TreeRefusal `WORKSPACE_TOO_LARGE` when a limit was passed. */
  finish(): void;
}

/** The walk goes on past a limit, to find what is big, but not for ever. */
const giveUpFactor = 4;
const namedFolders = 3;

/** Adds up a walk by top-level name, to tell a person what to exclude when it is too much. */
export function createSizeGuard(limits: WorkspaceLimits): SizeGuard {
  const total: Sums = { files: 0, bytes: 0 };
  const byTop = new Map<string, Sums>();
  const finish = (): void => {
    if (total.files > limits.maxFiles || total.bytes > limits.maxBytes) throw tooLarge(limits, total, byTop);
  };
  return {
    finish,
    add(found) {
      for (const { path, stat } of found) {
        const top = path.split('/', 1)[0] ?? path;
        const sums = byTop.get(top) ?? { files: 0, bytes: 0 };
        byTop.set(top, sums);
        for (const each of [sums, total]) {
          each.files += 1;
          each.bytes += stat.sizeBytes;
        }
      }
      if (total.files > giveUpFactor * limits.maxFiles) finish();
    },
  };
}

function tooLarge(limits: WorkspaceLimits, total: Sums, byTop: ReadonlyMap<string, Sums>): TreeRefusal {
  const weight = ({ files, bytes }: Sums): number => Math.max(files / limits.maxFiles, bytes / limits.maxBytes);
  const biggest = [...byTop].sort(([, left], [, right]) => weight(right) - weight(left)).slice(0, namedFolders);
  const named = biggest.map(([top, sums]) => `${top} (${describe(sums)})`).join(', ');
  return new TreeRefusal('WORKSPACE_TOO_LARGE', {
    path: biggest[0]?.[0] ?? '.',
    message: `the workspace has ${describe(total)}, more than ${describe({ files: limits.maxFiles, bytes: limits.maxBytes })}; the biggest: ${named}`,
    hint: `${biggest.map(([top]) => `--exclude /${top}`).join(' ')}, or --workspace . to push it all`,
  });
}

function describe({ files, bytes }: Sums): string {
  const [size, unit] = bytes >= 2 ** 30 ? [bytes / 2 ** 30, 'GiB'] : [bytes / 2 ** 20, 'MiB'];
  return `${size.toFixed(1)} ${unit} in ${files.toLocaleString('en-US')} ${files === 1 ? 'file' : 'files'}`;
}
