import { HostError } from '../host/files.ts';
import type { Processes } from '../host/processes.ts';

/** A GPU of this node. */
export interface Gpu {
  readonly index: number;
  /** `GPU-…`: the name under which it is reserved, as indices change between boots. */
  readonly uuid: string;
  readonly model: string;
  /** 0 where it does not tell, as one that shares the memory of its machine: it fits no work that asks for some. */
  readonly memoryMiB: number;
}

export interface DeviceInventory {
  readonly gpus: readonly Gpu[];
  /** Why none are known although the program that knows them is there; null when all is well. */
  readonly problem: string | null;
}

const query = ['--query-gpu=index,uuid,name,memory.total', '--format=csv,noheader,nounits'];

/** Asks `nvidia-smi` of PATH. A machine without it has no GPUs; one where it fails has none either, and a problem to show. */
export async function findDevices(processes: Pick<Processes, 'runHelper'>, path: string): Promise<DeviceInventory> {
  try {
    const options = { timeoutMs: 20_000, env: { PATH: path } };
    const result = await processes.runHelper(['nvidia-smi', ...query], options);
    if (result.timedOut) return { gpus: [], problem: 'nvidia-smi did not answer within 20 s' };
    if (result.exitCode === 0) return parseGpus(result.stdout);
    const words = firstLine(result.stderr) || firstLine(result.stdout);
    return { gpus: [], problem: `nvidia-smi exited with code ${result.exitCode ?? result.signal}: ${words}` };
  } catch (error) {
    if (error instanceof HostError && error.code === 'ENOENT') return { gpus: [], problem: null };
    if (error instanceof HostError) return { gpus: [], problem: `nvidia-smi could not be run: ${error.message}` };
    throw error;
  }
}

/** What stands in the place of a number that the driver has not. */
const untold = /^\[?(N\/A|Not Supported)\]?$/i;

/** Parses lines such as `0, GPU-6f1c…, NVIDIA H100 80GB HBM3, 81559`, or `…, NVIDIA GB10, [N/A]`. */
export function parseGpus(csv: string): DeviceInventory {
  const gpus: Gpu[] = [];
  for (const line of csv.split('\n').filter((text) => text.trim() !== '')) {
    const fields = line.split(',').map((field) => field.trim());
    const [index, uuid = '', model = '', memory = ''] = fields;
    const memoryMiB = untold.test(memory) ? '0' : memory;
    if (fields.length !== 4 || !/^\d+$/.test(index ?? '') || !/^\d+$/.test(memoryMiB)) {
      const problem = `nvidia-smi printed "${line.trim()}": expected index, uuid, name and memory in MiB`;
      return { gpus: [], problem };
    }
    gpus.push({ index: Number(index), uuid, model, memoryMiB: Number(memoryMiB) });
  }
  return { gpus, problem: null };
}

/** What makes a task see exactly the devices that it holds: by UUID, and none at all when it holds none. */
export function deviceEnvironment(uuids: readonly string[]): Record<string, string> {
  const visible = uuids.join(',');
  return { CUDA_VISIBLE_DEVICES: visible, NVIDIA_VISIBLE_DEVICES: visible === '' ? 'void' : visible };
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}
