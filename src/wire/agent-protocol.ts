import * as z from 'zod';
import type { NodeReport } from '../core/command.ts';
import type { TaskEvent } from '../core/job/facts.ts';
import type { Output, TaskKey } from '../core/job/job.ts';
import type { Capacity } from '../core/node/node.ts';
import type { Order } from '../core/node/orders.ts';
import type { SharedSecret } from '../core/secrets/command.ts';
import type { ShareRequest } from '../core/secrets/shares.ts';

/**
 * What an agent and its server say to each other over one WebSocket (`GET /v1/agent`), which the agent opens and opens
 * again whenever it breaks. Text frames are JSON by the schemas below, binary frames carry streams (stream-frames.ts).
 *
 * The agent says `hello` first, at every connect; the server answers `welcome` with every order that stands, or
 * `refused`. From then on orders go one way as they change, reports and heartbeats the other. A report is repeated with
 * the same number until it is answered, over as many connections as that takes.
 */
export const agentVersions: readonly number[] = [1];

/** The server closes with these; each frame before says why in words. */
export const closeCodes = {
  /** Refused, and it is no use to come again as one is. */
  refused: 4000,
  /** A newer agent speaks for the node. */
  superseded: 4001,
  /** What was said is not of this protocol. */
  malformed: 4002,
  /** The server stops; come again. */
  goingAway: 1001,
  /** Nothing was heard for too long. */
  silent: 4003,
} as const;

export const longestFrameBytes = 1024 * 1024;
export const mostEventsPerReport = 1000;

const count = z.int().min(0);
const text = z.string().max(64 * 1024);
const short = z.string().min(1).max(200);
const exit = { exitCode: z.int().nullable(), signal: z.int().nullable() };

const taskKey = z.strictObject({
  job: z.string().regex(/^[a-z0-9-]{1,63}$/),
  index: count,
  rank: count,
  attempt: count,
}) satisfies z.ZodType<TaskKey>;

const output = z.strictObject({
  path: text,
  state: z.enum(['collected', 'missing', 'refused']),
  sizeBytes: count.nullable(),
  why: text.nullable(),
}) satisfies z.ZodType<Output>;

const blobHash = z.string().regex(/^[0-9a-f]{64}$/);

/** What a node may say of a task. That it is lost is not for the node to say. */
const taskEvents = {
  NodeReady: {},
  WorkspaceMaterialized: {},
  SetupCompleted: { reused: z.boolean() },
  SetupFailed: { ...exit, line: z.strictObject({ number: count, text }).nullable(), detail: text.nullable() },
  TaskPrepared: { address: short, port: count },
  JobStarted: { port: count.nullable() },
  EndpointOpened: { endpoint: short },
  ReadinessChanged: { ready: z.boolean(), reason: text.nullable() },
  Restarted: { restarts: count, lastFailure: text },
  JobExited: { ...exit, detail: text.nullable() },
  TimedOut: { timeoutMs: z.number().min(0) },
  GaveUp: { message: text },
  OutputsCollected: { ...exit, outputs: z.array(output).max(10_000), manifest: blobHash.nullable() },
  NodeFault: { message: text, held: z.boolean() },
} as const satisfies Record<Exclude<TaskEvent['kind'], 'NodeLost'>, z.ZodRawShape>;

function eventSchema<Kind extends keyof typeof taskEvents>(kind: Kind) {
  return z.strictObject({ kind: z.literal(kind), ...taskKey.shape, ...taskEvents[kind] });
}

const taskEvent = z.discriminatedUnion('kind', [
  eventSchema('NodeReady'),
  eventSchema('WorkspaceMaterialized'),
  eventSchema('SetupCompleted'),
  eventSchema('SetupFailed'),
  eventSchema('TaskPrepared'),
  eventSchema('JobStarted'),
  eventSchema('EndpointOpened'),
  eventSchema('ReadinessChanged'),
  eventSchema('Restarted'),
  eventSchema('JobExited'),
  eventSchema('TimedOut'),
  eventSchema('GaveUp'),
  eventSchema('OutputsCollected'),
  eventSchema('NodeFault'),
]) satisfies z.ZodType<NodeReport['events'][number]>;

const capacity = z.strictObject({
  cpus: z.number().min(0),
  memoryMiB: count,
  gpus: z.array(z.strictObject({ uuid: short, index: count, name: text, memoryMiB: count })).max(1000),
  labels: z.record(short, text),
}) satisfies z.ZodType<Capacity>;

/** What the agent says of itself and its node. A newer agent may say more. */
const node = z.object({
  node: short,
  instance: short,
  bootId: short,
  capacity,
  advertise: short,
  platform: short,
  version: short,
  inventory: z.array(taskKey).max(100_000),
  wallMs: z.number(),
  publicKey: z.exactOptional(z.string().max(200)),
  secrets: z.exactOptional(z.array(short).max(10_000)),
});

/** Sealed boxes alone: what the agent opened for it stays with the agent. */
const sharedSecret = z.strictObject({
  project: short,
  name: short,
  from: z.base64(),
  boxes: z.record(short, z.base64()),
}) satisfies z.ZodType<SharedSecret>;

const agentHello = z.object({
  kind: z.literal('hello'),
  versions: z.array(z.int()).min(1).max(100),
  /** Where the agent keeps its attempts: another place is another machine, or a copy of this one. */
  place: short,
  node,
});

export const agentMessage = z.discriminatedUnion('kind', [
  agentHello,
  z.strictObject({
    kind: z.literal('report'),
    /** Grows by one with each new report of this agent. */
    seq: count,
    events: z.array(taskEvent).max(mostEventsPerReport),
    released: z.array(taskKey).max(mostEventsPerReport),
    secrets: z.exactOptional(z.array(short).max(10_000)),
    shared: z.exactOptional(z.array(sharedSecret).max(100)),
  }),
  z.strictObject({ kind: z.literal('heartbeat'), seq: count }),
  z.strictObject({ kind: z.literal('leave') }),
]);
export type AgentMessage = z.output<typeof agentMessage>;
export type AgentHello = z.output<typeof agentHello>;

/**
 * An order as the server means it. Only what every version has is checked: a newer server may say more of a task, and
 * an agent that runs whatever its server tells it to gains nothing by mistrust.
 */
const order = z.custom<Order>((value) => orderOutline.safeParse(value).success, 'an order');
const orderOutline = z.looseObject({
  key: taskKey,
  step: z.enum(['materialize', 'setup', 'prepare', 'run', 'collect']),
  begun: z.boolean(),
  stop: z.object({ graceMs: z.number() }).nullable(),
  task: z.looseObject({ spec: z.looseObject({ name: z.string() }), settings: z.looseObject({}) }),
});

const refusalShape = {
  code: z.string(),
  message: z.string(),
  hint: z.string().nullable(),
};

const shareRequest = z.object({
  project: short,
  name: short,
  box: z.base64(),
  publicKeys: z.array(short),
}) satisfies z.ZodType<ShareRequest>;

export const serverMessage = z.discriminatedUnion('kind', [
  /** Orders that stand and have no room in `welcome`, which comes behind them and has the last. */
  z.object({ kind: z.literal('standing'), orders: z.array(order) }),
  z.object({
    kind: z.literal('welcome'),
    version: z.int(),
    heartbeatMs: z.number(),
    leaseMs: z.number(),
    /** After a lost connection an agent comes back at a random time within this, so that not all come at once. */
    rejoinWithinMs: z.number(),
    orders: z.array(order),
  }),
  z.object({ kind: z.literal('refused'), ...refusalShape }),
  z.object({ kind: z.literal('orders'), changes: z.array(z.object({ key: taskKey, order: order.nullable() })) }),
  /** Secrets that the node is to seal for others; asked again at each connect for as long as it stands. */
  z.object({ kind: z.literal('shares'), requests: z.array(shareRequest) }),
  z.object({ kind: z.literal('reported'), seq: count, stale: z.array(taskKey) }),
  z.object({ kind: z.literal('report-refused'), seq: count, ...refusalShape }),
  z.object({ kind: z.literal('heard'), seq: count }),
  z.object({ kind: z.literal('superseded'), bootId: z.string(), place: z.string().nullable() }),
  z.object({ kind: z.literal('left') }),
]);
export type ServerMessage = z.output<typeof serverMessage>;
