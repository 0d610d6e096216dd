import type { TaskOrder } from '../core/node/orders.ts';
import type { Host } from '../host/host.ts';

/**
 * Lasting folders of setups (`setupReuse`): one for each combination of setup command and bytes of the named files.
 * A setup that has completed for a folder is not run again on this node; two that want the same folder take turns.
 */
export interface SetupShelf {
  /** The folder for a task, whose files must be in place already; null when it asks for none. */
  folderFor(task: TaskOrder, workdir: string): Promise<string | null>;
  isDone(folder: string): Promise<boolean>;
  markDone(folder: string): Promise<void>;
  /** Waits for the turn; the function it resolves to gives the turn on. */
  takeTurn(folder: string): Promise<() => void>;
}

export function createSetupShelf(host: Host, directory: string): SetupShelf {
  const turns = new Map<string, Promise<void>>();
  return {
    async folderFor(task, workdir) {
      if (task.settings.setupReuse.length === 0 || task.spec.setup === null) return null;
      const parts = [JSON.stringify(task.spec.setup)];
      for (const path of task.settings.setupReuse) {
        const digest = await host.digests.sha256File(`${workdir}/${path}`);
        parts.push(`${path} ${digest?.hash ?? 'absent'}`);
      }
      const folder = `${directory}/${host.digests.sha256(new TextEncoder().encode(parts.join('\n'))).slice(0, 24)}`;
      await host.files.makeDirectory(folder, { mode: 0o700 });
      return folder;
    },
    async isDone(folder) {
      return (await host.files.stat(`${folder}.done`)) !== null;
    },
    async markDone(folder) {
      await host.files.writeAtomic(`${folder}.done`, new TextEncoder().encode('done\n'), { mode: 0o600 });
    },
    async takeTurn(folder) {
      const before = turns.get(folder) ?? Promise.resolve();
      let giveOn = (): void => {};
      const turn = new Promise<void>((resolve) => {
        giveOn = resolve;
      });
      turns.set(
        folder,
        before.then(() => turn),
      );
      await before;
      return giveOn;
    },
  };
}
