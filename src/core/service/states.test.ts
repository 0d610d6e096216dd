import { describe, expect, it } from 'vitest';
import { exited } from '../scenario.testsuite.ts';
import { type RolloutState, rolloutMoves, type ServiceState, serviceStates } from './service.ts';
import { ServiceScenario } from './service-scenario.testsuite.ts';

const v2 = { run: 'serve v2' };
const quick = { rollout: { progressDeadlineMs: 10_000 } };
const updating = (): ServiceScenario => {
  const at = new ServiceScenario(['n1', 0]).running();
  at.apply(quick, v2);
  return at;
};

/** For each state of a rollout, a service whose rollout stands there. */
const rollouts: { readonly [State in RolloutState]: () => ServiceScenario } = {
  progressing: updating,
  paused: () => {
    const at = updating();
    at.say('PauseRollout');
    return at;
  },
  failed: () => {
    const at = updating();
    at.pass(10_000);
    return at;
  },
  done: () => new ServiceScenario(['n1', 0]).running().running({}, v2),
  'rolled-back': () => {
    const at = updating();
    at.undo();
    return at;
  },
};

/** What moves a rollout to a state, and nothing else does so by itself. */
const movers: { readonly [State in RolloutState]: (at: ServiceScenario) => void } = {
  progressing: (at) => void at.step({ kind: 'ResumeRollout', service: 'llm', by: 'ada' }),
  paused: (at) => void at.step({ kind: 'PauseRollout', service: 'llm', by: 'ada' }),
  failed: (at) => void at.pass(10_000),
  done: (at) => {
    at.ready(...at.active(2).flatMap(({ job, readySinceMs }) => (readySinceMs === null ? [job] : [])));
    at.pass(5000);
    at.drain();
  },
  'rolled-back': (at) => void at.step({ kind: 'UndoRollout', service: 'llm', to: 1, by: 'ada' }),
};

const allStates = Object.keys(rolloutMoves) as RolloutState[];

describe('the table of a rollout', () => {
  it.each(allStates.flatMap((from) => allStates.map((to) => [from, to] as const)))(
    'is what happens: %s → %s [X25] [I21]',
    (from, to) => {
      const at = rollouts[from]();
      const rollout = () => at.service.rollout;
      expect(rollout()?.state).toBe(from);
      const identity = `${rollout()?.from} → ${rollout()?.to}`;
      movers[to](at);
      const isAnother = `${rollout()?.from} → ${rollout()?.to}` !== identity;
      const may = (rolloutMoves[from] as readonly RolloutState[]).includes(to);
      expect(isAnother ? from : rollout()?.state).toBe(may ? to : from);
    },
  );
});

/** For each state that people see, a service that shows it, and its reason. */
const cases: { readonly [State in ServiceState]: () => [ServiceScenario, RegExp | null] } = {
  RUNNING: () => [new ServiceScenario(['n1', 0]).running(), null],
  UPDATING: () => [updating(), /^llm-\S+ is starting$/],
  WAITING: () => {
    const at = new ServiceScenario(['n1', 0]).running();
    at.tell(at.ids()[0] ?? '', exited(1));
    return [at, /ended: exited with code 1; replaced in/];
  },
  STOPPED: () => {
    const at = new ServiceScenario(['n1', 0]).running();
    at.say('StopService');
    return [at, null];
  },
  COMPLETED: () => {
    const at = new ServiceScenario(['n1', 0]).running({ restart: { policy: 'on-failure' } });
    at.tell(at.ids()[0] ?? '', exited(0));
    return [at, null];
  },
  FAILED: () => {
    const at = new ServiceScenario();
    at.apply(quick);
    at.pass(10_000);
    return [at, /^no capacity: no node is running$/];
  },
};

describe('what people see of a service', () => {
  it.each(Object.keys(serviceStates) as ServiceState[])('can be %s, with its reason [X27] [B10]', (state) => {
    const [at, reason] = cases[state]();
    expect(at.view.state).toBe(state);
    if (reason === null) expect(at.view.reason).toBeNull();
    else expect(at.view.reason).toMatch(reason);
  });

  it('waits rather than runs where a rollout failed and some of what served is missing [X27]', () => {
    const at = new ServiceScenario(['n1', 0]).running({ replicas: 2 });
    at.apply({ replicas: 2, ...quick }, v2);
    at.unready(at.ids(1)[0] ?? '');
    at.pass(10_000);
    expect(at.shown).toMatch(/^WAITING: rollout to revision 2 failed: llm-\S+ is starting$/);
  });
});
