// What processes cost, read from /proc.

import { readdirSync, readFileSync } from 'node:fs';
import { print } from './measure.mjs';

const msPerTick = 10;

/** Memory and processor time of some processes together; null without any. One that has ended meanwhile counts nothing. */
export function readProcesses(pids) {
  const sum = { residentMiB: 0, proportionalMiB: 0, busyMs: 0, count: 0 };
  for (const pid of pids) {
    const memory = readProc(pid, 'smaps_rollup');
    const fields = statFields(pid);
    if (memory === '' || fields === null) continue;
    sum.residentMiB += kibOf(memory, 'Rss') / 1024;
    sum.proportionalMiB += kibOf(memory, 'Pss') / 1024;
    sum.busyMs += busyMsOf(pid, fields);
    sum.count += 1;
  }
  return sum.count === 0 ? null : sum;
}

/** What the scheduler gave its threads, to the nanosecond; in ticks where the kernel does not say. */
function busyMsOf(pid, fields) {
  const threads = listThreads(pid).map((thread) => readProc(pid, `task/${thread}/schedstat`).split(' ')[0]);
  if (threads.every((ns) => ns === '')) return (Number(fields[11]) + Number(fields[12])) * msPerTick;
  return threads.reduce((sum, ns) => sum + Number(ns) / 1e6, 0);
}

function listThreads(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** A process and its descendants. */
export function withDescendants(root) {
  const parents = new Map(processIds().map((pid) => [pid, Number(statFields(pid)?.[1])]));
  const family = [root];
  for (const member of family) for (const [pid, parent] of parents) if (parent === member) family.push(pid);
  return family;
}

export function processIds() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** A file of /proc/PID as text; empty when the process has gone between being listed and being read. */
export function readProc(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** Memory at the end, and the share of one core that was used from `before` to `after`. */
export function printProcesses(name, { before, after, watchMs, ours = null }) {
  for (const [what, key] of [
    ['resident', 'residentMiB'],
    ['proportional', 'proportionalMiB'],
  ]) {
    print(`${name}, ${what}`, [after[key]], { unit: 'MiB', ratioTo: ours === null ? null : [ours[key]] });
  }
  const busyMs = after.busyMs - before.busyMs;
  print(`${name}, processor`, [(busyMs / watchMs) * 100], { unit: '%', digits: 2, note: `${after.count} processes` });
}

/** Fields of /proc/PID/stat after the name, which may hold anything; null when the process has gone. */
function statFields(pid) {
  const text = readProc(pid, 'stat');
  return text === '' ? null : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function kibOf(text, key) {
  return Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
}
