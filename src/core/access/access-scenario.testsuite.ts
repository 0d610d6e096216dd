import type { Answer, Command } from '../command.ts';
import { type StepResult, step } from '../engine.ts';
import { isRefusal, type Refusal } from '../refusal.ts';
import { contextAt } from '../scenario.testsuite.ts';
import { ServiceScenario } from '../service/service-scenario.testsuite.ts';
import type { CreateToken } from './command.ts';
import type { Principal, Role, UserPrincipal } from './principal.ts';

/** A state with projects, and people who do things in it. */
export class AccessScenario extends ServiceScenario {
  #tokens = 0;

  /** A user with a role in some projects, by a token that lasts. */
  user(name: string, grants: Readonly<Record<string, Role>> = {}, more: Partial<CreateToken> = {}): UserPrincipal {
    for (const [project, role] of Object.entries(grants)) {
      if (!this.state.access.projects.has(project)) {
        this.do({ kind: 'CreateProject', project, quota: {}, by: 'root' });
      }
      this.do({ kind: 'GrantRole', project, user: name, role, by: 'root' });
    }
    const token = this.freshId();
    this.do({ ...creating(token, name), ...more });
    return { kind: 'user', name, token };
  }

  freshId(): string {
    this.#tokens += 1;
    return `token${this.#tokens}`;
  }

  stepAs(actor: Principal, ...commands: readonly Command[]): StepResult {
    const actors = commands.map(() => actor);
    const result = step(this.state, commands, contextAt(this.nowMs, this.state), actors);
    for (const fact of result.facts) this.facts.push({ fact, nowMs: this.nowMs });
    return result;
  }

  doAs(actor: Principal, command: Command): Answer {
    const [answer] = this.stepAs(actor, command).answers;
    if (answer === undefined || isRefusal(answer)) throw new Error(`refused: ${JSON.stringify(answer)}`);
    return answer;
  }

  refusedAs(actor: Principal, command: Command): Refusal {
    const { answers, facts } = this.stepAs(actor, command);
    const [answer] = answers;
    if (!isRefusal(answer)) throw new Error(`not refused: ${JSON.stringify(answer)}`);
    if (facts.length > 0) throw new Error('a refusal left facts');
    return answer;
  }
}

export const someHash = 'f'.repeat(64);

export function creating(token: string, user: string): CreateToken {
  return {
    kind: 'CreateToken',
    token,
    hash: someHash,
    user,
    lifetimeMs: null,
    project: null,
    admin: false,
    by: 'root',
  };
}
