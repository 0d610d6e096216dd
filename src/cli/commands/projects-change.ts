import type { Role } from '../../client/api.ts';
import { roles } from '../../core/access/principal.ts';
import { type Context, type Invocation, textOption } from '../context.ts';
import { readQuota } from '../request/read-quota.ts';
import { UsageError } from '../usage-error.ts';
import { projectInFull } from './projects.ts';

/** A new project. */
export async function create(context: Context, { args, options }: Invocation): Promise<number> {
  const [name = ''] = args;
  const quota = readQuota(textOption(options, 'quota'));
  await (await context.client()).projects.create(name, { quota });
  return answer(context, name);
}

/** Another quota, or another role for everyone. */
export async function set(context: Context, { args, options }: Invocation): Promise<number> {
  const [name = ''] = args;
  const typed = textOption(options, 'everyone');
  const limits = textOption(options, 'quota');
  if (typed === undefined && limits === undefined) {
    throw new UsageError('nothing to change was given', `yard projects set ${name} --quota gpus=16`);
  }
  const everyone = typed === undefined ? {} : { everyone: typed === 'none' ? null : readRole(typed, '--everyone') };
  await (await context.client()).projects.change(name, { quota: readQuota(limits), ...everyone });
  return answer(context, name);
}

/** A role for a user. */
export async function grant(context: Context, { args }: Invocation): Promise<number> {
  const [name = '', user = '', role = ''] = args;
  await (await context.client()).projects.grant(name, user, readRole(role, 'the role'));
  return answer(context, name);
}

/** No role for a user. */
export async function revoke(context: Context, { args }: Invocation): Promise<number> {
  const [name = '', user = ''] = args;
  await (await context.client()).projects.revoke(name, user);
  return answer(context, name);
}

/** Deletes a project. */
export async function remove(context: Context, { args }: Invocation): Promise<number> {
  const [name = ''] = args;
  await (await context.client()).projects.remove(name);
  context.output.answer({ name, removed: true }, () => `${name}  removed`);
  return 0;
}

function readRole(text: string, what: string): Role {
  const role = roles.find((one) => one === text);
  if (role !== undefined) return role;
  throw new UsageError(`${what} is ${JSON.stringify(text)}`, `there are: ${roles.join(', ')}`);
}

/** The project as it is now; whoever took the last role of their own away may not see it any more. */
async function answer(context: Context, name: string): Promise<number> {
  const projects = await (await context.client()).projects.list();
  const project = projects.find((one) => one.name === name);
  context.output.answer(project ?? { name }, () => (project === undefined ? name : projectInFull(project)));
  return 0;
}
