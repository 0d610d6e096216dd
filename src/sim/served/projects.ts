import type { ExecuteOptions } from '../../control/decide-batch.ts';
import { noQuota, type Quota } from '../../core/access/access.ts';
import type { AccessCommand } from '../../core/access/command.ts';
import { roles } from '../../core/access/principal.ts';
import type { Command, SubmitJob } from '../../core/command.ts';
import { ask, type ClientContext } from '../client-actions.ts';
import type { Random } from '../random.ts';
import { submissionOf } from '../submission.ts';
import { drawIntent } from '../workload.ts';

/** Those who do what their tokens and roles let them do, and try the rest. Everybody else may do everything. */
export const users = ['user1', 'user2'];
export const projects = ['p1', 'p2'];
const mostJobsAlive = 3;
/** Ids of tokens are few, so that people come with such as were revoked, are over, or were made again. */
const tokensOfUser = 2;

/** Makes and changes projects, roles and tokens, or works with what those allow. */
export async function workInProjects(context: ClientContext): Promise<void> {
  const { random } = context.cluster;
  const user = random.pick(users);
  const isAdministration = random.happens(0.6);
  // Most of what users try to administer is refused: as a rule others do that.
  const actsAsUser = !isAdministration || random.happens(0.3);
  const by = actsAsUser ? user : context.life.name;
  const options: ExecuteOptions = actsAsUser
    ? { actor: { kind: 'user', name: user, token: drawToken(random, user) } }
    : {};
  const command = isAdministration ? administer(random, by) : work(context, user);
  if (command !== null) await ask(context, command, options);
}

/** What was held back by a quota shall come to its end. */
export async function liftQuotas(context: ClientContext): Promise<void> {
  for (const { name, quota } of context.plane.state.access.projects.values()) {
    if (Object.values(quota).every((limit) => limit === null)) continue;
    await ask(context, { kind: 'ChangeProject', project: name, quota: noQuota, by: context.life.name });
  }
}

function administer(random: Random, by: string): Command {
  const [project, user, role] = [random.pick(projects), random.pick(users), random.pick(roles)];
  const commands: readonly (() => AccessCommand)[] = [
    () => ({ kind: 'CreateProject', project, quota: drawQuota(random), by }),
    () => ({ kind: 'CreateProject', project, quota: drawQuota(random), by }),
    () => ({ kind: 'ChangeProject', project, quota: drawQuota(random), everyone: random.pick([null, role]), by }),
    () => ({ kind: 'RemoveProject', project, by }),
    () => ({ kind: 'GrantRole', project, user, role, by }),
    () => ({ kind: 'GrantRole', project, user, role, by }),
    () => ({ kind: 'RevokeRole', project, user, by }),
    () => createToken(random, { user, project, by }),
    () => createToken(random, { user, project, by }),
    () => createToken(random, { user, project, by }),
    () => createJoinToken(random, by),
    () => ({ kind: 'RevokeToken', token: drawToken(random, user), by }),
  ];
  return random.pick(commands)();
}

function createToken(random: Random, { user, project, by }: { user: string; project: string; by: string }) {
  return {
    kind: 'CreateToken' as const,
    token: drawToken(random, user),
    hash: '0'.repeat(64),
    user,
    lifetimeMs: random.pick([null, null, 30_000, 300_000]),
    project: random.happens(0.5) ? project : null,
    admin: random.happens(0.1),
    by,
  };
}

/** Agents come with tokens of their own; this one would let in any node of a new name. */
function createJoinToken(random: Random, by: string) {
  const token = `joinn${random.below(tokensOfUser)}`;
  return { kind: 'CreateJoinToken' as const, token, hash: '0'.repeat(64), lifetimeMs: 600_000, node: null, by };
}

function drawToken(random: Random, user: string): string {
  return `${user}n${random.below(tokensOfUser)}`;
}

function drawQuota(random: Random): Partial<Quota> {
  const { pick, happens } = random;
  if (happens(0.3)) return noQuota;
  return { gpus: pick([null, 0, 1, 2]), cores: pick([null, 1, 2, 4]), queued: pick([null, 0, 1]) };
}

/** Null where there is nothing to do. */
function work({ cluster, plane }: ClientContext, user: string): Command | null {
  const { random } = cluster;
  const alive = [...plane.state.jobs.values()].filter(({ project }) => projects.includes(project));
  if (alive.length > 0 && random.happens(0.4)) {
    return { kind: 'StopJob', job: random.pick(alive).id, indices: null, by: user, graceMs: null };
  }
  return alive.length < mostJobsAlive ? submission(random, user) : null;
}

function submission(random: Random, owner: string): SubmitJob {
  const name = `t${random.below(1_000_000)}`;
  const { spec, settings } = drawIntent(random, name);
  const project = random.pick(projects);
  return submissionOf({ spec: { ...spec, workspace: null }, settings, project, owner, ids: [name] });
}
