import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Embedded } from '../client/embedded.ts';
import { jobState } from '../core/job/job.ts';
import { jobMoves } from '../core/job/lifecycle.ts';
import { nodeStates, viewNode } from '../core/node/view.ts';

/** Figures of a running server, in the form that Prometheus reads. */
export interface ServerMetrics {
  answered(labels: { method: string; route: string; status: string }, ms: number): void;
  /** The whole exposition, and its content type. */
  read(): Promise<{ text: string; contentType: string }>;
  close(): void;
}

const durationBuckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createMetrics({ plane }: Pick<Embedded, 'plane'>): ServerMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  // Gauges that are named as counters are; what they count says nothing of a server.
  for (const what of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${what}_total`);
  const durations = new Histogram({
    name: 'runyard_http_request_duration_seconds',
    help: 'How long requests took, streams included.',
    labelNames: ['method', 'route', 'status'],
    buckets: durationBuckets,
    registers,
  });
  new Gauge({
    name: 'runyard_jobs',
    help: 'Live jobs by state; ended ones are not counted.',
    labelNames: ['state'],
    registers,
    collect() {
      for (const state of Object.keys(jobMoves)) this.set({ state }, 0);
      for (const job of plane.state.jobs.values()) this.inc({ state: jobState(job) });
    },
  });
  new Gauge({
    name: 'runyard_queue_jobs',
    help: 'Jobs of which something waits for a place.',
    registers,
    collect() {
      let waiting = 0;
      for (const jobs of plane.state.derived.pending.shapes()) for (const _job of jobs) waiting += 1;
      this.set(waiting);
    },
  });
  new Gauge({
    name: 'runyard_nodes',
    help: 'Nodes by state.',
    labelNames: ['state'],
    registers,
    collect() {
      for (const state of Object.keys(nodeStates)) this.set({ state }, 0);
      const time = { atMs: 0, nowMs: 0 };
      for (const node of plane.state.nodes.values()) this.inc({ state: viewNode(plane.state, node, time).state });
    },
  });
  new Gauge({
    name: 'runyard_services',
    help: 'Services.',
    registers,
    collect() {
      this.set(plane.state.services.size);
    },
  });
  new Gauge({
    name: 'runyard_log_facts',
    help: 'Number of the last fact of the log.',
    registers,
    collect() {
      this.set(plane.seq);
    },
  });
  return {
    answered: (labels, ms) => durations.observe(labels, ms / 1000),
    read: async () => ({ text: await registry.metrics(), contentType: registry.contentType }),
    close: () => registry.clear(),
  };
}
