import type { AccessFact } from './facts.ts';

/** One fact about projects, tokens and who was let in, as a line for a person. */
export function describeAccess(fact: AccessFact): string {
  switch (fact.kind) {
    case 'ProjectCreated':
      return `project ${fact.project} created by ${fact.by}${limits(fact)}`;
    case 'ProjectChanged':
      return `project ${fact.project} changed by ${fact.by}${limits(fact)}`;
    case 'ProjectRemoved':
      return `project ${fact.project} removed by ${fact.by}`;
    case 'RoleGranted':
      return `${fact.user} is ${fact.role} in project ${fact.project}, granted by ${fact.by}`;
    case 'RoleRevoked':
      return `${fact.user} has no role of their own in project ${fact.project} any more, revoked by ${fact.by}`;
    case 'TokenCreated':
      return `token ${fact.token.id} created by ${fact.by} ${lettingIn(fact)}`;
    case 'TokenRevoked':
      return `token ${fact.token} revoked by ${fact.by}`;
    case 'NodeAdmitted':
      return `node ${fact.node} was let in by join token ${fact.token}`;
    case 'AccessRefused': {
      const { who, action, subject, code, times } = fact;
      return `${who} was refused ${action}${subject === null ? '' : ` of ${subject}`} (${code})${times === 1 ? '' : `, ${times} times`}`;
    }
  }
}

function limits(fact: Extract<AccessFact, { kind: 'ProjectCreated' | 'ProjectChanged' }>): string {
  const set = Object.entries(fact.quota).filter(([, value]) => value !== null);
  const quota =
    set.length === 0 ? 'without limits' : `limited to ${set.map(([key, value]) => `${key}=${value}`).join(', ')}`;
  return `, ${quota}${fact.everyone === null ? '' : `, everyone is ${fact.everyone}`}`;
}

function lettingIn({ token }: Extract<AccessFact, { kind: 'TokenCreated' }>): string {
  if (token.kind === 'join') return `for ${token.node === null ? 'a node' : `node ${token.node}`} to join`;
  const what = token.admin ? ' as an administrator' : token.project === null ? '' : ` in project ${token.project} only`;
  return `for ${token.user}${what}`;
}
