import type { ListedNode } from '../../client/api.ts';
import { layoutTable } from '../output/table.ts';
import { describeAge } from './age.ts';
import { describeGpuMemory, describeMiB } from './size.ts';

export function nodesTable(nodes: readonly ListedNode[], nowMs: number, width: number | null): string {
  const rows = nodes.map((node) => [
    node.id,
    node.state,
    `${node.free.cpus}/${node.cpus}`,
    `${describeMiB(node.free.memoryMiB)} of ${describeMiB(node.memoryMiB)}`,
    `${node.free.gpus}/${node.gpus.length}`,
    String(node.tasks.length),
    whyOf(node, nowMs),
  ]);
  return layoutTable(['ID', 'STATE', 'CPUS', 'MEMORY', 'GPUS', 'TASKS', 'WHY'], rows, width);
}

function whyOf(node: ListedNode, nowMs: number): string {
  const { reason, agentRunning, state } = node;
  const parts = [silence(node, nowMs), reason, deadline(node, nowMs)].filter((part) => part !== null);
  if (parts.length > 0) return parts.join('; ');
  return agentRunning || state !== 'READY' ? '' : 'its agent is not running';
}

/** Only of a node that is missed: what is heard all the time is no news. */
function silence({ state, heardAt }: ListedNode, nowMs: number): string | null {
  if (state !== 'SUSPECT' && state !== 'LOST') return null;
  return heardAt === null
    ? 'not heard since the server started'
    : `heard ${describeAge(nowMs - Date.parse(heardAt))} ago`;
}

function deadline({ drainDeadlineAt, tasks }: ListedNode, nowMs: number): string | null {
  if (drainDeadlineAt === null || tasks.length === 0) return null;
  const leftMs = Date.parse(drainDeadlineAt) - nowMs;
  return leftMs > 0 ? `stopped in ${describeAge(leftMs)}` : 'being stopped';
}

export function nodeInFull(node: ListedNode, nowMs: number): string {
  const labels = Object.entries(node.labels).map(([key, value]) => `${key}=${value}`);
  const facts: readonly (readonly [string, string])[] = [
    ['state', [node.state, whyOf(node, nowMs)].filter(Boolean).join('  ')],
    ['cores', `${node.free.cpus} of ${node.cpus} free`],
    ['memory', `${describeMiB(node.free.memoryMiB)} of ${describeMiB(node.memoryMiB)} free`],
    [
      'gpus',
      node.gpus.map((gpu) => `${gpu.index}: ${gpu.name} ${describeGpuMemory(gpu.memoryMiB)}`).join(', ') || 'none',
    ],
    ['labels', labels.join(', ') || 'none'],
    ['tasks', node.tasks.join(', ') || 'none'],
    ['address', node.advertise],
    ['agent', `${node.version} on ${node.platform}, ${node.agentRunning ? 'running' : 'not running'}`],
  ];
  return [node.id, ...facts.map(([key, value]) => `  ${key.padEnd(9)}${value}`)].join('\n');
}
