import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { RunyardClient } from '../../client/api.ts';
import { secretVariables } from '../../core/secrets/secret.ts';
import type { ServiceView } from '../../core/service/view.ts';
import { type Applied, parseApplyFile } from '../../wire/parse-file.ts';
import type { Submission } from '../../wire/submission.ts';
import { type Context, flagOption, type Invocation, textOption } from '../context.ts';
import { failed } from '../exit-code.ts';
import { showPush } from '../follow/push-line.ts';
import { decodeText } from '../request/decode-text.ts';
import { findService } from '../request/find-subject.ts';
import { waitsForNode } from '../request/no-node.ts';
import { noteDoubts } from '../request/note-doubts.ts';
import { requireSecrets } from '../request/require-secrets.ts';
import { followService } from '../services/follow-service.ts';
import { UsageError } from '../usage-error.ts';

interface Asked {
  readonly file: string;
  readonly directory: string;
  readonly applied: Applied;
  /** Undefined: the one it is in, or the default one. */
  readonly project: string | undefined;
}

/** Makes services and profiles as their files say, in order, and follows each service to its end. */
export async function execute(context: Context, { args, options }: Invocation): Promise<number> {
  // All are read first: one that is wrong leaves everything as it was.
  const given = textOption(options, 'project');
  const asked = await Promise.all(args.map((file) => readAsked(context, file, given)));
  const client = await context.client();
  for (const [position, one] of asked.entries()) {
    const code = await applyOne(context, client, one, flagOption(options, 'detach'));
    if (code === 0) continue;
    const rest = asked.slice(position + 1).map(({ file }) => file);
    if (rest.length > 0) context.output.note(`not applied: ${rest.join(', ')}`);
    return code;
  }
  return 0;
}

async function readAsked(context: Context, file: string, given: string | undefined): Promise<Asked> {
  const path = resolve(context.cwd, file);
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' && error.code !== 'EISDIR') throw error;
    throw new UsageError(`there is no file ${file}`, `it was looked for as ${path}`);
  });
  const text = decodeText(bytes, file);
  const applied = await parseApplyFile(text, file);
  const project = applied.kind === 'service' ? (given ?? (await projectNow(context, applied.service))) : undefined;
  if (applied.kind === 'service') {
    const source = { table: 'service', file: { name: file, text }, project } as const;
    await requireSecrets(() => context.client(), applied.service.spec, source);
  }
  return { file, directory: dirname(path), applied, project };
}

/** The project that the service is in, which it stays in; undefined while there is none. Matters to its secrets only. */
async function projectNow(context: Context, { spec }: Submission): Promise<string | undefined> {
  if (secretVariables(spec.env).length === 0) return undefined;
  return (await viewBefore(await context.client(), spec.name))?.project;
}

async function applyOne(context: Context, client: RunyardClient, asked: Asked, detach: boolean): Promise<number> {
  const { applied, directory, project } = asked;
  if (applied.kind === 'service')
    return applyService(context, client, { submission: applied.service, directory, project, detach });
  const { name, source } = applied.profile;
  const { revision, changed } = await client.profiles.apply(source);
  context.output.item({ kind: 'profile', name, revision, changed }, () => `${name}  ${changedText(revision, changed)}`);
  return 0;
}

async function applyService(
  context: Context,
  client: RunyardClient,
  {
    submission,
    directory,
    project,
    detach,
  }: Omit<Asked, 'file' | 'applied'> & { submission: Submission; detach: boolean },
): Promise<number> {
  const { output } = context;
  await noteDoubts(output, submission, directory);
  const before = await viewBefore(client, submission.spec.name);
  const push = showPush(output);
  const { name, revision, changed } = await client.services.apply(submission, {
    baseDirectory: directory,
    ...(project === undefined ? {} : { project }),
    onPush: (progress) => push.see(progress),
  });
  push.end(name);
  const service = await client.services.get(name);
  const view = await service.view();
  const { became, text } = whatBecame(before, view, changed);
  const isOpen = view.rollout !== null && ['progressing', 'paused', 'failed'].includes(view.rollout.state);
  const follows = !detach && (changed || isOpen);
  // On a terminal the picture of the rollout begins with the same words.
  const isSeen = follows && output.kind === 'terminal' && became === 'revision';
  if (!isSeen) output.item({ kind: 'service', name, revision, changed }, () => `${name}  ${text}`);
  const hasNode = (await client.nodes.list()).some((node) => node.agentRunning);
  if (!hasNode && (changed || view.state !== 'STOPPED')) {
    output.note(waitsForNode(client, name));
    return isOpen && view.rollout?.state === 'failed' ? failed : 0;
  }
  return follows ? followService(context, service, revision) : 0;
}

async function viewBefore(client: RunyardClient, name: string): Promise<ServiceView | null> {
  return (await (await findService(client, name))?.view()) ?? null;
}

/** What applying came to, in a word and as it is said. */
function whatBecame(
  before: ServiceView | null,
  after: ServiceView,
  changed: boolean,
): { readonly became: 'nothing' | 'revision' | 'scale' | 'start'; readonly text: string } {
  if (!changed) return { became: 'nothing', text: 'unchanged' };
  const { revision, desired } = after;
  if (before === null) return { became: 'revision', text: `revision ${revision}` };
  if (before.revision !== revision) return { became: 'revision', text: `revision ${before.revision} → ${revision}` };
  if (before.state === 'STOPPED' || before.state === 'COMPLETED') return { became: 'start', text: 'started' };
  return { became: 'scale', text: `scaled to ${desired}` };
}

function changedText(revision: number, changed: boolean): string {
  if (!changed) return 'unchanged';
  return revision === 1 ? 'revision 1' : `revision ${revision - 1} → ${revision}`;
}
