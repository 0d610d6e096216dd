import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { httpGet } from './http-get.ts';

const servers: Server[] = [];
const sockets = new Set<Socket>();
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  servers.push(server);
  server.on('connection', (socket: Socket) => sockets.add(socket));
  return new Promise((done) => server.listen(0, host, () => done((server.address() as AddressInfo).port)));
}

const listenHttp = (handler: RequestListener, host?: string): Promise<number> =>
  listen(createHttpServer(handler), host);

describe('a GET of an own port', () => {
  it('tells the status, and follows no redirect [R4.32]', async () => {
    const paths: (string | undefined)[] = [];
    const port = await listenHttp((request, response) => {
      paths.push(request.url);
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    expect(await httpGet(port, '/health', 1000)).toEqual({ kind: 'answered', status: 302 });
    expect(paths).toEqual(['/health']);
  });

  it('reads no more than 64 KiB of an answer without end [R4.32]', async () => {
    const port = await listenHttp((_, response) => {
      const more = (): void => {
        while (response.write('x'.repeat(10_000)));
      };
      response.on('drain', more);
      more();
    });
    expect(await httpGet(port, '/', 5000)).toEqual({ kind: 'answered', status: 200 });
  });

  it('ends at its timeout, whether nothing is answered or the answer never ends', async () => {
    const silent = await listen(createServer());
    expect(await httpGet(silent, '/', 50)).toEqual({ kind: 'timed-out' });
    const slow = await listenHttp((_, response) => response.write('x'));
    expect(await httpGet(slow, '/', 50)).toEqual({ kind: 'timed-out' });
  });

  it('tells a refusal, a server that speaks no HTTP, and a path that no request may hold', async () => {
    const gone = createServer();
    const port = await listen(gone);
    await new Promise((done) => gone.close(done));
    expect(await httpGet(port, '/', 1000)).toEqual({ kind: 'refused' });
    const other = await listen(createServer((socket) => socket.end('SSH-2.0-x\r\n')));
    expect(await httpGet(other, '/', 1000)).toMatchObject({ kind: 'broken' });
    expect(await httpGet(other, '/a\r\nb', 1000)).toMatchObject({ kind: 'broken' });
  });

  it('finds a server that listens on IPv6 alone', async () => {
    const port = await listenHttp((_, response) => response.end(), '::1');
    expect(await httpGet(port, '/', 1000)).toEqual({ kind: 'answered', status: 200 });
  });
});
