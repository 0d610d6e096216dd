import type { Files } from '../host/files.ts';
import { LogError } from './log-error.ts';

/** File systems that other machines can write too: their locks and shared memory do not hold between machines. */
const networkFileSystems: ReadonlySet<string> = new Set([
  ...['nfs', 'nfs4', 'cifs', 'smb3', 'smbfs', 'afs', 'ncpfs', '9p', 'ceph', 'lustre', 'gpfs', 'beegfs', 'glusterfs'],
  ...['gfs2', 'ocfs2', 'orangefs', 'pvfs2', 'fuse.sshfs', 'fuse.glusterfs', 'fuse.ceph', 'fuse.s3fs', 'fuse.rclone'],
  ...['fuse.davfs', 'fuse.gcsfuse', 'fuse.juicefs', 'fuse.moosefs', 'fuse.cephfs', 'fuse.nfs'],
]);

/** Refuses a directory on a network mount, naming it. Where the system lists no mounts (macOS), nothing can be told. */
export async function requireLocal(files: Pick<Files, 'read' | 'realPath'>, directory: string): Promise<void> {
  const listed = await files.read('/proc/self/mountinfo');
  if (listed === null) return;
  const path = (await files.realPath(directory)) ?? directory;
  const mount = mountOf(new TextDecoder().decode(listed), path);
  if (mount === null || !networkFileSystems.has(mount.fileSystem)) return;
  throw new LogError(
    'NETWORK_FILE_SYSTEM',
    `${directory} is on a network file system (${mount.fileSystem}, mounted at ${mount.point}), where several processes ` +
      'would damage the log. Set RUNYARD_HOME to a directory on a local disk',
  );
}

export interface Mount {
  readonly point: string;
  readonly fileSystem: string;
}

/** The mount that holds the path: the deepest one above it, and of several at one point the last, which covers the others. */
export function mountOf(mountinfo: string, path: string): Mount | null {
  let found: Mount | null = null;
  for (const line of mountinfo.split('\n')) {
    const mount = parseMount(line);
    if (mount === null || !isWithin(path, mount.point)) continue;
    if (found === null || mount.point.length >= found.point.length) found = mount;
  }
  return found;
}

/** `36 35 98:0 /root /mount/point rw,noatime master:1 - ext3 /dev/root rw`, spaces in paths being octal escapes. */
function parseMount(line: string): Mount | null {
  const [before, after] = line.split(' - ');
  const point = before?.split(' ')[4];
  const fileSystem = after?.split(' ')[0];
  if (point === undefined || fileSystem === undefined) return null;
  const unescaped = point.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
  return { point: unescaped, fileSystem };
}

function isWithin(path: string, point: string): boolean {
  return point === '/' || path === point || path.startsWith(`${point}/`);
}
