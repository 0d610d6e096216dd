import type WebSocket from 'ws';
import type { Link, LinkListener } from './link.ts';

/** A side that does not read what it is sent for so long that this much waits here is given up. */
const mostWaitingBytes = 64 * 1024 * 1024;

/** A WebSocket as a link. `listener` is told of what comes in from now on. */
export function linkOf(socket: WebSocket, listen: (link: Link) => LinkListener): Link {
  const send = (data: string | Uint8Array): void => {
    if (socket.readyState !== socket.OPEN) return;
    // What fails to be sent ends the connection, which is told by its close.
    socket.send(data, () => {});
    if (socket.bufferedAmount > mostWaitingBytes) socket.terminate();
  };
  const link: Link = {
    sendText: send,
    sendBytes: send,
    waitingBytes: () => socket.bufferedAmount,
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: (code, reason) => socket.close(code, shortened(reason)),
    abandon: () => socket.terminate(),
  };
  const listener = listen(link);
  socket.on('message', (data, isBinary) => {
    const bytes = toBytes(data);
    if (isBinary) listener.onBytes(bytes);
    else listener.onText(new TextDecoder().decode(bytes));
  });
  socket.on('close', (code, reason) => listener.onClose(code, reason.toString('utf8')));
  // The close that follows says all that is of use.
  socket.on('error', () => {});
  return link;
}

function toBytes(data: WebSocket.RawData): Uint8Array {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? new Uint8Array(data) : data;
}

/** A close frame takes 123 bytes. */
function shortened(reason: string): string {
  return Buffer.from(reason)
    .subarray(0, 120)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
}
