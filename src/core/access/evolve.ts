import type { State } from '../state.ts';
import { isOver } from './authorize.ts';
import type { AccessFact } from './facts.ts';

/** Folds one fact about projects and tokens. Total. */
export function evolveAccess(state: State, fact: AccessFact, nowMs: number): void {
  const { projects, tokens, nodeKeys } = state.access;
  switch (fact.kind) {
    case 'ProjectCreated': {
      const { project: name, quota, everyone } = fact;
      projects.set(name, { name, quota, everyone, members: new Map() });
      break;
    }
    case 'ProjectChanged': {
      const project = projects.get(fact.project);
      if (project === undefined) break;
      project.quota = fact.quota;
      project.everyone = fact.everyone;
      state.derived.placementDue = true;
      break;
    }
    case 'ProjectRemoved':
      projects.delete(fact.project);
      break;
    case 'RoleGranted':
      projects.get(fact.project)?.members.set(fact.user, fact.role);
      break;
    case 'RoleRevoked':
      projects.get(fact.project)?.members.delete(fact.user);
      break;
    case 'TokenCreated':
      // Those that let nobody in any more would pile up where sign-ins make tokens.
      for (const [id, token] of tokens) if (isOver(token, nowMs)) tokens.delete(id);
      tokens.set(fact.token.id, { ...fact.token, by: fact.by });
      break;
    case 'TokenRevoked':
      tokens.delete(fact.token);
      break;
    case 'NodeAdmitted':
      tokens.delete(fact.token);
      nodeKeys.set(fact.node, { node: fact.node, hash: fact.keyHash, joinedAtMs: nowMs, token: fact.token });
      break;
    case 'AccessRefused':
      break;
  }
}
