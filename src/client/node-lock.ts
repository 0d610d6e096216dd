import { DatabaseSync } from '@photostructure/sqlite';

/** Holds a node's name for this process: the kernel gives it back even on kill −9. */
export interface NodeLock {
  release(): void;
}

/**
 * Takes the exclusive lock of a node's own small database; null when another process has it.
 * No other file of the database may be opened by other means: closing any descriptor of it would drop the lock.
 */
export function takeNodeLock(path: string): NodeLock | null {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (isLocked(error)) return null;
    throw error;
  }
  return {
    release() {
      database.exec('ROLLBACK');
      database.close();
    },
  };
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && /locked|busy/i.test(error.message);
}
