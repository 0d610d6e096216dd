import type { IncomingMessage } from 'node:http';
import { refused } from './http-refusal.ts';

/** Names under which this server may be asked; whoever comes under another was led here by a DNS trick [R4.35, R4.37]. */
export interface AllowedHosts {
  /** Throws MISDIRECTED for a host that is not ours and FORBIDDEN for a page of another origin. */
  check(request: IncomingMessage): void;
}

/** `names`: host names and addresses without a port, in lower case. */
export function createAllowedHosts(names: ReadonlySet<string>): AllowedHosts {
  return {
    check(request) {
      const { url = '', headers, socket } = request;
      if (!url.startsWith('/')) {
        throw refused('MISDIRECTED', 'the request names an absolute address; this server is no proxy', {
          hint: 'send the path alone',
        });
      }
      const own = plainAddress(socket.localAddress ?? '');
      const isOurs = (host: string | null): boolean => host !== null && (names.has(host) || host === own);
      if (!isOurs(hostOf(headers.host ?? ''))) {
        throw refused('MISDIRECTED', `this server is not ${JSON.stringify((headers.host ?? '').slice(0, 100))}`, {
          hint: 'start it with --public-url where it is reached under another name',
        });
      }
      const { origin } = headers;
      if (origin !== undefined && !isOurs(hostOfOrigin(origin))) {
        throw refused('FORBIDDEN', 'a page of another origin may not ask this server');
      }
    },
  };
}

/** Without the port and the brackets of an IPv6 address; null where it is no host. */
export function hostOf(text: string): string | null {
  const found = /^(?:\[([0-9a-fA-F:.]+)\]|([^:/@?#\s]+))(?::\d{1,5})?$/.exec(text);
  const host = found?.[1] ?? found?.[2];
  return host === undefined ? null : plainAddress(host.toLowerCase());
}

function hostOfOrigin(origin: string): string | null {
  const found = /^https:\/\/([^/]+)$/.exec(origin);
  return found?.[1] === undefined ? null : hostOf(found[1]);
}

/** An IPv4 address that arrived at an IPv6 socket is written as IPv4. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/, '');
}
