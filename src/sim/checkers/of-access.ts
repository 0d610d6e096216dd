import type { Fact } from '../../core/fact.ts';
import type { State } from '../../core/state.ts';
import { users } from '../served/projects.ts';
import type { Checker } from './checker.ts';

/** What roles, tokens and quotas promise. The rules are told anew here, from the facts alone. */
export const accessCheckers: readonly Checker[] = [
  {
    id: 'X29',
    says: 'whoever did something had a token and a role for it',
    open: (_history, report) => {
      const rights = new Rights();
      return {
        beforeFact: (fact, state, { nowMs, seq }) => {
          const deed = deedOf(fact, state);
          if (deed !== null && users.includes(deed.by) && !rights.suffice(deed, nowMs)) {
            const where = deed.project === null ? 'as an administrator' : `in project ${deed.project}`;
            report(`${deed.by} had no right to ${fact.kind} ${where} in fact ${seq}`);
          }
          rights.note(fact);
        },
      };
    },
  },
  {
    id: 'X29',
    says: 'no project is given more than its quota',
    open: (_history, report) => ({
      beforeFact: (fact, state, { seq }) => {
        if (fact.kind !== 'AttemptPlaced') return;
        const project = state.jobs.get(fact.job)?.project ?? '';
        const quota = state.access.projects.get(project)?.quota;
        if (quota === undefined) return;
        const has = heldBy(state, project);
        const more = fact.tasks.map(({ devices, cpus }) => ({ gpus: devices.length, cores: cpus }));
        for (const what of ['gpus', 'cores'] as const) {
          const limit = quota[what];
          const wanted = sum(more.map((one) => one[what]));
          const total = wanted + sum(has.map((one) => one[what]));
          if (limit === null || wanted === 0 || total <= limit + 1e-6) continue;
          report(`${project} was given ${total} of ${limit} ${what} with fact ${seq}`);
        }
      },
    }),
  },
];

/** What the tasks of a project's jobs hold on all nodes. */
function heldBy(state: State, project: string): readonly { readonly gpus: number; readonly cores: number }[] {
  return [...state.nodes.values()].flatMap(({ allocations }) =>
    [...allocations].flatMap(([task, { devices, cpus }]) => {
      const job = state.jobs.get(task.split('.')[0] ?? '');
      return job?.project === project ? [{ gpus: devices.length, cores: cpus }] : [];
    }),
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

const ranks = ['viewer', 'member', 'operator', 'admin'];

/** What somebody did, and the least role that it takes; no project: only an administrator may. */
interface Deed {
  readonly by: string;
  readonly project: string | null;
  readonly role: string;
}

/** Null for what nobody in particular did. */
function deedOf(fact: Fact, state: State): Deed | null {
  switch (fact.kind) {
    case 'JobSubmitted':
      return { by: fact.owner, project: fact.project, role: 'member' };
    case 'OperatorStop': {
      const job = state.jobs.get(fact.job);
      const role = job?.owner === fact.by ? 'member' : 'operator';
      return { by: fact.by, project: job?.project ?? '', role };
    }
    case 'RoleGranted':
    case 'RoleRevoked':
      return { by: fact.by, project: fact.project, role: 'admin' };
    case 'ProjectCreated':
    case 'ProjectChanged':
    case 'ProjectRemoved':
      return { by: fact.by, project: null, role: 'admin' };
    case 'TokenCreated':
      return tokenDeed(fact.by, fact.token.kind === 'user' && !fact.token.admin ? fact.token.user : null);
    case 'TokenRevoked': {
      const token = state.access.tokens.get(fact.token);
      return tokenDeed(fact.by, token?.kind === 'user' ? token.user : null);
    }
    default:
      return null;
  }
}

/** With any token one may see to one's own; only administrators see to those of others. */
function tokenDeed(by: string, user: string | null): Deed {
  return { by, project: null, role: by === user ? 'none' : 'admin' };
}

/** Who has which tokens and roles at a moment of the log. */
class Rights {
  readonly #roles = new Map<string, { everyone: string | null; readonly members: Map<string, string> }>([
    ['default', { everyone: 'member', members: new Map() }],
  ]);
  readonly #tokens = new Map<string, Extract<Fact, { kind: 'TokenCreated' }>['token']>();

  note(fact: Fact): void {
    switch (fact.kind) {
      case 'ProjectCreated':
        this.#roles.set(fact.project, { everyone: fact.everyone, members: new Map() });
        break;
      case 'ProjectChanged': {
        const project = this.#roles.get(fact.project);
        if (project !== undefined) project.everyone = fact.everyone;
        break;
      }
      case 'ProjectRemoved':
        this.#roles.delete(fact.project);
        break;
      case 'RoleGranted':
        this.#roles.get(fact.project)?.members.set(fact.user, fact.role);
        break;
      case 'RoleRevoked':
        this.#roles.get(fact.project)?.members.delete(fact.user);
        break;
      case 'TokenCreated':
        this.#tokens.set(fact.token.id, fact.token);
        break;
      case 'TokenRevoked':
        this.#tokens.delete(fact.token);
        break;
      default:
    }
  }

  /** Which of their tokens somebody came with is in no fact: one of those that are good must give the right. */
  suffice({ by, project, role }: Deed, nowMs: number): boolean {
    const good = [...this.#tokens.values()].flatMap((token) =>
      token.kind === 'user' && token.user === by && (token.expiresAtMs ?? Infinity) > nowMs ? [token] : [],
    );
    if (good.some(({ admin }) => admin)) return true;
    if (project === null) return role === 'none' && good.length > 0;
    const known = this.#roles.get(project);
    const has = known?.members.get(by) ?? known?.everyone ?? '';
    const reaches = good.some((token) => token.project === null || token.project === project);
    return reaches && ranks.indexOf(has) >= ranks.indexOf(role);
  }
}
