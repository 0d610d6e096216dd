/** Faults in what runs and ends: claims, fencing, the log, what is given to whom. */
export const jobsMutations = [
  {
    name: 'claim not taken',
    file: 'src/agent/adopt.ts',
    find: "if (await takeClaim(place, nonce)) return { kind: 'agent' };",
    replace: "return { kind: 'agent' };",
    served: true,
  },
  {
    name: 'dead shim taken to be alive',
    file: 'src/agent/adopt.ts',
    find: 'isAlive: await host.processes.isAlive(claim.shim)',
    replace: 'isAlive: true',
  },
  {
    name: 'fencing off: reports of an older attempt accepted',
    file: 'src/core/job/job.ts',
    find: "if (element?.kind !== 'live' || element.attempt !== key.attempt) return null;",
    replace: "if (element?.kind !== 'live') return null;",
    served: true,
  },
  {
    name: 'orders never taken back',
    file: 'src/control/order-feed.ts',
    find: 'if (order !== null || this.#known.has(text)) changes.push({ key, order });',
    replace: 'if (order !== null) changes.push({ key, order });',
  },
  {
    name: 'state kept after a failed commit',
    file: 'src/control/control-plane.ts',
    find: 'await this.#reload().catch((fault: unknown) => this.#onFault(fault));',
    replace: '',
  },
  {
    name: 'idempotency keys forgotten',
    file: 'src/control/decide-batch.ts',
    find: 'if (idempotencyKey !== undefined) keep.push({',
    replace: 'if (idempotencyKey === "") keep.push({',
  },
  {
    name: 'devices given away twice',
    file: 'src/core/node/node.ts',
    find: 'for (const device of allocation.devices) taken.add(device);',
    replace: '',
  },
  {
    name: 'devices given back before the processes are gone',
    file: 'src/core/evolve.ts',
    find: '{ ...allocation, held: true }',
    replace: '{ ...allocation, held: false }',
  },
  {
    name: 'tree taken to be gone after the warning',
    file: 'src/agent/stop-ladder.ts',
    find: "if (emptyLooks === 2) return 'gone';",
    replace: "if (emptyLooks === 2 || stage.kind === 'warned') return 'gone';",
  },
  {
    name: 'a second copy of what must wait for its lost node (onNodeLoss: wait)',
    file: 'src/core/placement/place.ts',
    find: "=== 'wait' && !isAsked && isHeld(",
    replace: "=== 'wait' && job.id === '' && isHeld(",
    also: {
      file: 'src/core/node/loss.ts',
      find: "return job.settings.onNodeLoss === 'wait' && verdict",
      replace: "return job.id === '' && verdict",
    },
    served: true,
  },
  {
    name: 'news told again and again',
    file: 'src/core/job/decide-report.ts',
    find: 'return stands.started;',
    replace: 'return false;',
  },
];
