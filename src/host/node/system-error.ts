import { HostError } from '../files.ts';

/** Turns a failed system call into a HostError with its code and path; an error without a code is a bug and stays as it is. */
export function toHostError(error: unknown, path: string | null): Error {
  if (error instanceof HostError) return error;
  const code = codeOf(error);
  if (code !== null && error instanceof Error) return new HostError(code, withPath(error.message, path), path, error);
  return error instanceof Error ? error : new Error(String(error));
}

/** What is said of an open file ("no space left on device, write") names none. */
function withPath(message: string, path: string | null): string {
  return path === null || message.includes(path) ? message : `${message} '${path}'`;
}

/** The system's code of an error, such as `ENOENT`; null when it carries none. */
export function codeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}

/** True when the error only says that nothing stands at the path. */
export function isAbsent(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Runs a call on one path; an absent path gives `absent`, any other failure a HostError. */
export function onPath<T>(path: string, call: () => T, absent: T): T {
  try {
    return call();
  } catch (error) {
    if (isAbsent(error)) return absent;
    throw toHostError(error, path);
  }
}

/** Runs a call on one path where absence is a failure too. */
export async function failing<T>(path: string, call: () => T | Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw toHostError(error, path);
  }
}
