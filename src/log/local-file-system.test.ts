import { describe, expect, it } from 'vitest';
import type { Files } from '../host/files.ts';
import { mountOf, requireLocal } from './local-file-system.ts';

const mountinfo = `
22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
40 22 0:35 / /home rw,relatime shared:1 master:2 - nfs4 server:/home rw
41 40 8:2 / /home/ada/local\\040disk rw - xfs /dev/sdb1 rw
42 22 0:40 / /mnt/a rw - nfs4 server:/a rw
43 22 8:3 / /mnt/a rw - ext4 /dev/sdc1 rw
`;

function filesWith(listed: string | null): Pick<Files, 'read' | 'realPath'> {
  return {
    read: async () => (listed === null ? null : new TextEncoder().encode(listed)),
    realPath: async (path) => path.replace('/link', '/home/ada'),
  };
}

describe('a log directory', () => {
  it('is on the deepest mount above it, and on the last of several at one point', () => {
    expect(mountOf(mountinfo, '/var/lib')).toEqual({ point: '/', fileSystem: 'ext4' });
    expect(mountOf(mountinfo, '/home/ada')).toEqual({ point: '/home', fileSystem: 'nfs4' });
    expect(mountOf(mountinfo, '/home/ada/local disk/x')?.fileSystem).toBe('xfs');
    expect(mountOf(mountinfo, '/homestead')?.point).toBe('/');
    expect(mountOf(mountinfo, '/mnt/a')?.fileSystem).toBe('ext4');
    expect(mountOf('', '/mnt/a')).toBeNull();
  });

  it('is refused on a network mount, also behind a link, and accepted elsewhere', async () => {
    await expect(requireLocal(filesWith(mountinfo), '/link/.runyard')).rejects.toThrow(
      '/link/.runyard is on a network file system (nfs4, mounted at /home)',
    );
    await requireLocal(filesWith(mountinfo), '/var/lib/runyard');
    await requireLocal(filesWith(null), '/link/.runyard');
  });
});
