import { checkProject } from '../access/decide.ts';
import { type Decision, done } from '../decide.ts';
import { checkName } from '../job/check-spec.ts';
import type { JobSpec } from '../job/spec.ts';
import { type Refusal, refuse } from '../refusal.ts';
import type { State } from '../state.ts';
import { checkBoxes, checkSecretName } from './check-secret.ts';
import type { SecretCommand } from './command.ts';
import { secretKey, secretVariables } from './secret.ts';

export function decideSecret(state: State, command: SecretCommand): Decision | Refusal {
  const { project, name, by } = command;
  const wrong = checkName(project, 'project') ?? checkProject(state, project) ?? checkSecretName(name, 'name');
  if (wrong !== null) return wrong;
  switch (command.kind) {
    case 'SetSecret':
      return setSecret(command);
    case 'RemoveSecret':
      if (!state.secrets.has(secretKey(project, name))) return unknownSecret(state, project, name);
      return done([{ kind: 'SecretRemoved', project, name, by }]);
  }
}

function setSecret(command: Extract<SecretCommand, { kind: 'SetSecret' }>): Decision | Refusal {
  const { project, name, boxes, by } = command;
  if (Object.keys(boxes).length === 0) {
    return refuse('NO_NODE', `nobody could open secret ${JSON.stringify(name)}: no node has joined yet`, {
      hint: 'let a node join first, then set it again',
    });
  }
  const wrong = checkBoxes(boxes);
  return wrong ?? done([{ kind: 'SecretSet', project, name, boxes, by }]);
}

/**
 * Refuses a spec that names a secret which is neither set in its project nor kept by a node. It may be removed later:
 * then what names it waits, and says so.
 */
export function checkSecretsSet(state: State, project: string, spec: Pick<JobSpec, 'env'>): Refusal | null {
  const isSet = (name: string): boolean => state.secrets.has(secretKey(project, name)) || isKeptByNode(state, name);
  return refuseUnset(spec, project, isSet);
}

/** The first secret that a spec names and that is not set. */
export function refuseUnset(
  spec: Pick<JobSpec, 'env'>,
  project: string,
  isSet: (name: string) => boolean,
): Refusal | null {
  for (const { variable, secret } of secretVariables(spec.env)) {
    if (isSet(secret)) continue;
    return refuse('SECRET_NOT_SET', `secret ${JSON.stringify(secret)} is not set (env.${variable})`, {
      path: `job.env.${variable}`,
      hint: howToSet(project, secret),
    });
  }
  return null;
}

/** The command that sets a secret, as it is to be typed. */
export function howToSet(project: string, name: string): string {
  return `yard secrets set ${name}${project === 'default' ? '' : ` --project ${project}`}`;
}

function isKeptByNode(state: State, name: string): boolean {
  for (const node of state.nodes.values()) if (node.secrets.includes(name)) return true;
  return false;
}

function unknownSecret(state: State, project: string, name: string): Refusal {
  const known = [...state.secrets.values()].filter((one) => one.project === project).map((one) => one.name);
  return refuse('NOT_FOUND', `there is no secret ${JSON.stringify(name)} in project ${project}`, {
    hint: known.length === 0 ? howToSet(project, name) : `there are: ${known.sort().join(', ')}`,
  });
}
