import type { ListedNode } from '../../client/api.ts';
import type { Context, Invocation } from '../context.ts';
import { layoutTable } from '../output/table.ts';
import { describeMiB } from '../views/size.ts';

/** Lists nodes, or shows one in full. */
export async function execute(context: Context, { args }: Invocation): Promise<number> {
  const client = await context.client();
  const [name] = args;
  if (name !== undefined) {
    const node = await client.nodes.get(name);
    context.output.answer(node, () => nodeInFull(node));
    return 0;
  }
  const nodes = await client.nodes.list();
  context.output.answer(nodes, (width) =>
    nodes.length === 0 ? 'no nodes (yard up starts one here)' : nodesTable(nodes, width),
  );
  return 0;
}

export function nodesTable(nodes: readonly ListedNode[], width: number | null): string {
  const rows = nodes.map((node) => [
    node.id,
    node.state,
    `${node.free.cpus}/${node.cpus}`,
    `${describeMiB(node.free.memoryMiB)} of ${describeMiB(node.memoryMiB)}`,
    `${node.free.gpus}/${node.gpus.length}`,
    String(node.tasks.length),
    whyOf(node),
  ]);
  return layoutTable(['ID', 'STATE', 'CPUS', 'MEMORY', 'GPUS', 'TASKS', 'WHY'], rows, width);
}

function whyOf({ reason, agentRunning, state }: ListedNode): string {
  if (reason !== null) return reason;
  return agentRunning || state === 'DOWN' ? '' : 'its agent is not running';
}

function nodeInFull(node: ListedNode): string {
  const labels = Object.entries(node.labels).map(([key, value]) => `${key}=${value}`);
  const facts: readonly (readonly [string, string])[] = [
    ['state', [node.state, whyOf(node)].filter(Boolean).join('  ')],
    ['cores', `${node.free.cpus} of ${node.cpus} free`],
    ['memory', `${describeMiB(node.free.memoryMiB)} of ${describeMiB(node.memoryMiB)} free`],
    ['gpus', node.gpus.map((gpu) => `${gpu.index}: ${gpu.name} ${describeMiB(gpu.memoryMiB)}`).join(', ') || 'none'],
    ['labels', labels.join(', ') || 'none'],
    ['tasks', node.tasks.join(', ') || 'none'],
    ['address', node.advertise],
    ['agent', `${node.version} on ${node.platform}, ${node.agentRunning ? 'running' : 'not running'}`],
  ];
  return [node.id, ...facts.map(([key, value]) => `  ${key.padEnd(9)}${value}`)].join('\n');
}
