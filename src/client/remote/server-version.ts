import { refuse } from '../../core/refusal.ts';
import { apiError, health } from '../../wire/http/other-views.ts';
import type { RouteName } from '../../wire/http/routes.ts';
import { RefusalError } from '../refusal-error.ts';
import { parseJson } from './answers.ts';
import type { Http } from './http.ts';
import { readText } from './transport.ts';

/**
 * A server that has no such route at all is older than this client, which is said with its version. Returns where the
 * answer is about something else: what a path names is not there.
 */
export async function refuseOldServer(http: Http, route: RouteName, text: string): Promise<void> {
  const body = apiError.safeParse(parseJson(text));
  if (body.success && body.data.error.code !== 'UNSUPPORTED') return;
  const found = route === 'health' ? null : await versionOf(http);
  if (found === null) return;
  const message = `the server ${http.place} is older (${found}) and has no ${route}`;
  throw new RefusalError(
    refuse('UNSUPPORTED', message, { hint: 'update the server, or use the version of yard that fits it' }),
  );
}

/** The version of the server; null where nothing there says one. */
async function versionOf(http: Http): Promise<string | null> {
  try {
    const answer = health.safeParse(parseJson(await readText(await http.open('health', {}))));
    return answer.success ? answer.data.version : null;
  } catch {
    // Whatever went wrong there says nothing about the route that was asked for.
    return null;
  }
}
