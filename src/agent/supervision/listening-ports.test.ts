import { describe, expect, it } from 'vitest';
import { parseListeners } from './listening-ports.ts';

const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 31337 1 0000000000000000 100 0 0 10 0
   1: 0100007F:1F40 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 31338 1 0000000000000000 20 0 0 10 -1
   2: 00000000000000000000000000000000:0016 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 41 1 0000000000000000 100 0 0 10 0
`;

describe('the tables of TCP sockets', () => {
  it('give the ports of those that listen, and no connection', () => {
    expect(parseListeners(table)).toEqual([
      { port: 8000, inode: '31337' },
      { port: 22, inode: '41' },
    ]);
  });
});
