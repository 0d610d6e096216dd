import type { Route } from '../wire/http/route.ts';

/** What stands in the places of a route's parameters; null where the path is another. Percent signs that mean nothing fit nothing. */
export function matchPath({ path }: Route, given: string): Readonly<Record<string, string>> | null {
  const parts = path.split('/');
  const found = given.split('/');
  if (parts.length !== found.length) return null;
  const params: Record<string, string> = Object.create(null);
  for (const [i, part] of parts.entries()) {
    const text = found[i] ?? '';
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined) {
      if (part !== text) return null;
      continue;
    }
    const decoded = decode(text);
    if (decoded === null || decoded === '') return null;
    params[name] = decoded;
  }
  return params;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
