import * as z from 'zod';
import type { OnNodeLoss, PartialSettings } from '../core/profile/settings.ts';
import { dropAbsent } from './absent.ts';
import { duration, oneOf, size, someNumber, text, textList, truth, wholeNumber } from './leaves.ts';
import { supervisionShape, toSupervision } from './supervision-table.ts';

const gpuCount = z.union([wholeNumber(0, 4096, ', or "all"'), z.literal('all')], {
  error: 'a whole number from 0 to 4096, or "all"',
});

const resources = z.strictObject(
  {
    gpus: gpuCount.optional(),
    gpuType: text.optional(),
    gpuMemory: size.optional(),
    cpus: someNumber(0, 4096).optional(),
    memory: size.optional(),
    disk: size.optional(),
    labels: z.record(z.string(), text, { error: 'a table of texts' }).optional(),
  },
  { error: 'a table such as { gpus = 1 }' },
);

const retry = z.strictObject(
  {
    maxAttempts: wholeNumber(1, 1000).optional(),
    onExit: z.array(wholeNumber(1, 255), { error: 'a list of exit codes' }).optional(),
  },
  { error: 'a table such as { maxAttempts = 3 }' },
);

const array = z.strictObject(
  { size: wholeNumber(1, 1_000_000), maxRunning: wholeNumber(1, 1_000_000).optional() },
  { error: 'a table such as { size = 100 }' },
);

const onNodeLoss = oneOf(['replace', 'wait', 'fail']) satisfies z.ZodType<OnNodeLoss>;

/** `[profile]`: how to run. In a file; the base units are inside. */
export const profileTable = z.strictObject(
  {
    kind: oneOf(['job', 'service']).optional(),
    nodes: wholeNumber(1, 4096).optional(),
    resources: resources.optional(),
    timeout: duration.optional(),
    grace: duration.optional(),
    retry: retry.optional(),
    array: array.optional(),
    onNodeLoss: onNodeLoss.optional(),
    priority: wholeNumber(-1000, 1000).optional(),
    setupReuse: textList.optional(),
    port: truth.optional(),
    ...supervisionShape,
  },
  { error: 'a table, or the name of a profile' },
);

/** A profile in a file of its own: it has a name, too. */
export const namedProfileTable = profileTable.extend({ name: text });

export type ProfileTable = z.output<typeof profileTable>;

export const profileKeys: readonly string[] = Object.keys(profileTable.shape);
export const resourceKeys: readonly string[] = Object.keys(resources.shape);
export const retryKeys: readonly string[] = Object.keys(retry.shape);
export const arrayKeys: readonly string[] = Object.keys(array.shape);

/** The settings of a table that passed the schema; only what it gives. */
export function toSettings(table: ProfileTable): PartialSettings {
  const { kind, nodes, timeout, grace, priority, setupReuse, port } = table;
  return dropAbsent({
    kind,
    nodes,
    resources: table.resources && toNeeds(table.resources),
    timeoutMs: timeout,
    graceMs: grace,
    retry: table.retry && dropAbsent(table.retry),
    array: table.array && { size: table.array.size, maxRunning: table.array.maxRunning ?? null },
    onNodeLoss: table.onNodeLoss,
    priority,
    setupReuse,
    port,
    ...toSupervision(table),
  });
}

function toNeeds(table: NonNullable<ProfileTable['resources']>): NonNullable<PartialSettings['resources']> {
  const { gpus, gpuType, cpus, labels } = table;
  return dropAbsent({
    gpus,
    gpuType,
    gpuMemoryMiB: table.gpuMemory,
    cpus,
    memoryMiB: table.memory,
    diskMiB: table.disk,
    labels,
  });
}
