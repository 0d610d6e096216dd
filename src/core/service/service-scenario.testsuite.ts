import type { TaskEvent } from '../job/facts.ts';
import type { JobSpec } from '../job/spec.ts';
import type { PartialSettings } from '../profile/settings.ts';
import { collected, gpus, Scenario, specOf } from '../scenario.testsuite.ts';
import type { ServiceCommand } from './command.ts';
import type { Replica, Service } from './service.ts';
import { type ServiceView, viewService } from './view.ts';

/** A service `llm` in a scenario, and what its nodes say. */
export class ServiceScenario extends Scenario {
  constructor(...nodes: readonly (readonly [name: string, gpus: number])[]) {
    super();
    for (const [name, count] of nodes) this.join(name, { cpus: 64, gpus: gpus(name, count) });
  }

  apply(values: PartialSettings = {}, spec: Partial<JobSpec> = {}): { revision: number; changed: boolean } {
    const answer = this.do(applying(values, spec));
    if (answer.kind !== 'applied') throw new Error('an apply was answered with something else');
    return answer;
  }

  scale(desired: number, ...remove: readonly string[]): void {
    this.do({ kind: 'ScaleService', service: 'llm', desired, remove, by: 'ada' });
  }

  undo(to: number | null = null): void {
    this.do({ kind: 'UndoRollout', service: 'llm', to, by: 'ada' });
  }

  say(kind: 'RestartService' | 'StopService' | 'RemoveService' | 'PauseRollout' | 'ResumeRollout'): void {
    this.do({ kind, service: 'llm', by: 'ada' });
  }

  get service(): Service {
    const service = this.state.services.get('llm');
    if (service === undefined) throw new Error('there is no service llm');
    return service;
  }

  get view(): ServiceView {
    return viewService(this.state, this.service, { atMs: this.nowMs, nowMs: this.nowMs });
  }

  /** State and reason as people see them. */
  get shown(): string {
    const { state, reason } = this.view;
    return reason === null ? state : `${state}: ${reason}`;
  }

  /** Replicas that count, in the order of their submission; of one revision, if it is given. */
  active(revision?: number): readonly Replica[] {
    return [...this.service.replicas.values()].filter(
      (one) => !one.stopping && (revision === undefined || one.revision === revision),
    );
  }

  ids(revision?: number): readonly string[] {
    return this.active(revision).map(({ job }) => job);
  }

  stopping(): readonly string[] {
    return [...this.service.replicas.values()].filter((one) => one.stopping).map(({ job }) => job);
  }

  /** Every rank of the replica says so. */
  tell(id: string, ...events: readonly TaskEvent[]): void {
    for (const task of this.live(id).tasks) this.report(this.key(id, 0, task.rank), ...events);
  }

  /** Brought up as its node would: prepared where ranks wait for each other, started, ready. */
  ready(...ids: readonly string[]): void {
    for (const id of ids) {
      const { tasks } = this.live(id);
      if (tasks.length > 1)
        tasks.forEach((task) => {
          const prepared = { kind: 'TaskPrepared', address: task.node, port: 4000 } as const;
          this.report(this.key(id, 0, task.rank), prepared);
        });
      this.tell(
        id,
        { kind: 'JobStarted', port: 4000 },
        { kind: 'EndpointOpened', endpoint: `10.0.0.1:${4000 + Number(this.job(id).order)}` },
        { kind: 'ReadinessChanged', ready: true, reason: null },
      );
    }
  }

  unready(id: string, reason = '503'): void {
    this.tell(id, { kind: 'ReadinessChanged', ready: false, reason });
  }

  /** What was told to stop has stopped. */
  drain(...ids: readonly string[]): void {
    for (const id of ids.length > 0 ? ids : this.stopping()) {
      if (this.state.jobs.get(id)?.elements.get(0)?.kind === 'live') this.tell(id, collected);
    }
  }

  /** A service that runs: applied, every replica ready for long enough, its rollout done. */
  running(values: PartialSettings = {}, spec: Partial<JobSpec> = {}): this {
    this.apply(values, spec);
    for (let round = 0; round < 8 && this.service.rollout?.state === 'progressing'; round += 1) {
      this.ready(...this.ids().filter((id) => this.service.replicas.get(id)?.readySinceMs === null));
      this.pass(10_000);
      this.drain();
    }
    return this;
  }

  events(): readonly string[] {
    return this.service.events.map(({ message }) => message);
  }
}

export function applying(
  values: PartialSettings = {},
  spec: Partial<JobSpec> = {},
  profile: string | null = null,
): Extract<ServiceCommand, { kind: 'ApplyService' }> {
  return {
    kind: 'ApplyService',
    spec: specOf({ name: 'llm', run: 'serve v1', ...spec }),
    source: { service: { name: 'llm' } },
    profile,
    layers: [{ origin: 'service.toml', values }],
    workspace: null,
    project: 'default',
    owner: 'ada',
  };
}

export const gaveUp = (message: string): TaskEvent => ({ kind: 'GaveUp', message });
