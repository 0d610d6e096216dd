import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { applyOptions } from '../../wire/apply-options.ts';
import { documentOfCommand } from '../../wire/command-document.ts';
import { DocumentError } from '../../wire/document-error.ts';
import type { SubmissionOptions } from '../../wire/option-changes.ts';
import { parseJobDocument } from '../../wire/parse-document.ts';
import { parseJobFile } from '../../wire/parse-file.ts';
import type { Submission } from '../../wire/submission.ts';
import { type Context, type Invocation, listOption, type Options, textOption } from '../context.ts';
import { UsageError } from '../usage-error.ts';
import { decodeText } from './decode-text.ts';
import { readGivenFile } from './read-given-file.ts';
import { requireSecrets } from './require-secrets.ts';

/** What is to be submitted, read and checked. */
export interface JobRequest {
  readonly submission: Submission;
  /** Whose it is; null for the default. */
  readonly project: string | null;
  readonly baseDirectory: string;
  /** The job whose bytes are taken again (`--from`). */
  readonly workspaceOf: string | null;
  /** The workspace was not asked for by name: one that is very large is a mistake. */
  readonly limitWorkspace: boolean;
}

interface Found {
  readonly submission: Submission;
  readonly directory: string;
  readonly workspaceOf: string | null;
  readonly isCommand: boolean;
  readonly file: { readonly name: string; readonly text: string } | null;
  readonly args: readonly string[] | null;
}

/** Reads FILE, stdin, a command after `--`, or an earlier job, and lays the options over it. */
export async function readRequest(context: Context, verb: string, invocation: Invocation): Promise<JobRequest> {
  const { options } = invocation;
  const found = await find(context, verb, invocation);
  const changes = await readOptions(context, options);
  const shellValue = (key: string): string | undefined => context.env[key];
  const submission = applyOptions(found.submission, changes, {
    shellValue,
    ...(found.args === null ? {} : { args: found.args }),
  });
  const project = textOption(options, 'project');
  await requireSecrets(() => context.client(), submission.spec, { table: 'job', file: found.file, project });
  const ownWorkspace = textOption(options, 'workspace') !== undefined;
  return {
    submission,
    project: project ?? null,
    baseDirectory: ownWorkspace ? context.cwd : found.directory,
    workspaceOf: ownWorkspace || submission.spec.workspace === null ? null : found.workspaceOf,
    limitWorkspace: found.isCommand && !ownWorkspace,
  };
}

function find(context: Context, verb: string, { args, options, rest }: Invocation): Promise<Found> {
  const [file, ...extra] = args;
  const from = textOption(options, 'from');
  if (from !== undefined) {
    if (file !== undefined) throw new UsageError('--from and a FILE exclude each other', 'leave one of them out');
    return findEarlier(context, from, rest);
  }
  if (file === '-') return findOnStdin(context, rest);
  if (file === undefined && rest !== null) return Promise.resolve(findCommand(context, verb, rest));
  return findFile(context, verb, { file: file ?? 'job.toml', given: file !== undefined, extra, rest });
}

async function findEarlier(context: Context, reference: string, rest: readonly string[] | null): Promise<Found> {
  const job = await (await context.client()).jobs.get(reference);
  const view = await job.view();
  const read = parseJobDocument(view.spec, { origin: job.id });
  const submission = { ...read, profile: view.profile ?? read.profile };
  return { submission, directory: context.cwd, workspaceOf: job.id, isCommand: false, file: null, args: rest };
}

async function findOnStdin(context: Context, rest: readonly string[] | null): Promise<Found> {
  const file = { name: 'stdin', text: await context.readStdin() };
  const submission = await parseJobFile(file.text, file.name);
  return { submission, directory: context.cwd, workspaceOf: null, isCommand: false, file, args: rest };
}

function findCommand(context: Context, verb: string, argv: readonly string[]): Found {
  if (argv.length === 0) throw new UsageError('there is no command after --', `yard ${verb} -- python3 train.py`);
  const submission = parseJobDocument(documentOfCommand(argv), { origin: 'the command line' });
  return { submission, directory: context.cwd, workspaceOf: null, isCommand: true, file: null, args: null };
}

async function findFile(
  context: Context,
  verb: string,
  asked: { file: string; given: boolean; extra: readonly string[]; rest: readonly string[] | null },
): Promise<Found> {
  const { file, given, extra, rest } = asked;
  const path = resolve(context.cwd, file);
  const isFile = (await stat(path).catch(() => null))?.isFile() === true;
  const command = [file, ...extra, ...(rest ?? [])].join(' ');
  if (!isFile && !given) {
    throw new UsageError('there is no job.toml here', `name a file, or a command: yard ${verb} -- CMD…`);
  }
  if (!isFile && /\.(toml|json)$/.test(file)) {
    throw new UsageError(`there is no file ${file}`, `it was looked for as ${path}`);
  }
  if (!isFile) throw notJobFile(file, `for a command: yard ${verb} -- ${command}`);
  if (extra.length > 0)
    throw new UsageError(`arguments of the job follow --`, `yard ${verb} ${file} -- ${extra.join(' ')}`);
  const bytes = await readFile(path);
  try {
    const text = decodeText(bytes, file);
    const submission = await parseJobFile(text, file);
    return {
      submission,
      directory: dirname(path),
      workspaceOf: null,
      isCommand: false,
      file: { name: file, text },
      args: rest,
    };
  } catch (error) {
    const wrongKind = error instanceof DocumentError && error.code === 'BAD_REQUEST' && !/\.(toml|json)$/.test(file);
    throw wrongKind ? notJobFile(file, `for a command: yard ${verb} -- ${runnable(file, command)}`) : error;
  }
}

function notJobFile(file: string, hint: string): UsageError {
  return new UsageError(`${JSON.stringify(file)} is not a job file`, hint);
}

function runnable(file: string, command: string): string {
  if (file.endsWith('.py')) return `python3 ${command}`;
  if (file.endsWith('.sh')) return `sh ${command}`;
  return file.includes('/') ? command : `./${command}`;
}

async function readOptions(context: Context, options: Options): Promise<SubmissionOptions> {
  const texts = [
    'name',
    'profile',
    'gpus',
    'gpuType',
    'cpus',
    'memory',
    'nodes',
    'array',
    'timeout',
    'maxAttempts',
    'priority',
  ];
  const lists = ['label', 'env', 'secret', 'exclude', 'output', 'set'];
  const envFiles = await Promise.all(
    listOption(options, 'envFile').map(async (name) => ({
      name,
      text: decodeText(await readGivenFile(context, '--env-file', name), name),
    })),
  );
  const given = [...texts, ...lists].filter((key) => options[key] !== undefined).map((key) => [key, options[key]]);
  const workspace =
    options.workspace === false || typeof options.workspace === 'string' ? { workspace: options.workspace } : {};
  return { ...Object.fromEntries(given), ...workspace, envFiles } as SubmissionOptions;
}
