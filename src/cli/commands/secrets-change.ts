import { deleteNodeSecret, setNodeSecret } from '../../client/secrets/node-local.ts';
import { type Context, flagOption, type Invocation, type Options, textOption } from '../context.ts';
import { readSecretValue } from '../request/read-secret.ts';
import { UsageError } from '../usage-error.ts';

/** Seals a value to the nodes, or keeps it on one. */
export async function set(context: Context, { args, options, rest }: Invocation): Promise<number> {
  const [name = ''] = args;
  checkPlace(options);
  if (rest !== null) throw new UsageError('a value is no argument', `yard secrets set ${name} reads it from stdin`);
  const value = await readSecretValue(context, name, textOption(options, 'fromFile'));
  if (flagOption(options, 'nodeLocal')) {
    const node = await setNodeSecret({ home: context.home, node: textOption(options, 'name'), name }, value);
    context.output.answer({ name, node }, () => `${name}  set, stays on ${node}`);
    return 0;
  }
  const { secrets } = await context.client();
  const project = textOption(options, 'project');
  await secrets.set(name, value, project === undefined ? {} : { project });
  context.output.answer({ name, project: project ?? 'default' }, () => `${name}  set`);
  return 0;
}

/** Forgets a secret. What runs keeps what it was given. */
export async function remove(context: Context, { args, options }: Invocation): Promise<number> {
  const [name = ''] = args;
  checkPlace(options);
  if (flagOption(options, 'nodeLocal')) {
    const node = await deleteNodeSecret({ home: context.home, node: textOption(options, 'name'), name });
    context.output.answer({ name, node }, () => `${name}  removed from ${node}`);
    return 0;
  }
  const { secrets } = await context.client();
  const project = textOption(options, 'project');
  await secrets.remove(name, project === undefined ? {} : { project });
  context.output.answer({ name, project: project ?? 'default' }, () => `${name}  removed`);
  return 0;
}

function checkPlace(options: Options): void {
  const isLocal = flagOption(options, 'nodeLocal');
  if (isLocal && textOption(options, 'project') !== undefined) {
    throw new UsageError(
      '--node-local and --project exclude each other',
      'what stays on a node is there for all of them',
    );
  }
  if (!isLocal && textOption(options, 'name') !== undefined) {
    throw new UsageError('--name is the node of --node-local', 'leave it out, or add --node-local');
  }
}
