import type { Command } from '../core/command.ts';
import type { Fact } from '../core/fact.ts';
import type { State } from '../core/state.ts';

/** Which blobs services hold on to: each revision its workspace, until it is forgotten or the service is removed. */
export interface ServicePins {
  readonly pins: readonly { readonly holder: string; readonly blobs: readonly string[] }[];
  readonly unpins: readonly string[];
}

/**
 * Notes the revisions that the commands could make services forget. Call it before they are decided, and the returned
 * function afterwards, with the facts that came of them.
 */
export function watchServicePins(state: State, commands: readonly Command[]): (facts: readonly Fact[]) => ServicePins {
  const before = commands.flatMap((command) => {
    const name = serviceOf(command);
    return name === null
      ? []
      : [...(state.services.get(name)?.revisions.keys() ?? [])].map((number) => ({ name, number }));
  });
  return (facts) => ({
    pins: facts.flatMap((fact) => {
      if (fact.kind !== 'ServiceApplied' || fact.revision.workspace === null) return [];
      return [{ holder: holderOf(fact.service, fact.revision.number), blobs: [fact.revision.workspace.manifest] }];
    }),
    unpins: before
      .filter(({ name, number }) => state.services.get(name)?.revisions.has(number) !== true)
      .map(({ name, number }) => holderOf(name, number)),
  });
}

function serviceOf(command: Command): string | null {
  if (command.kind === 'ApplyService') return command.spec.name;
  return 'service' in command ? command.service : null;
}

/** No job can be called so: a name has no slash. */
function holderOf(service: string, revision: number): string {
  return `service/${service}@${revision}`;
}
