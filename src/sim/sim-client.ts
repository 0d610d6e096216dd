import { ControlPlane } from '../control/control-plane.ts';
import { sleep } from '../host/clock.ts';
import { ask, type ClientContext, meddle, sample } from './client-actions.ts';
import { KeptPerson } from './kept-person.ts';
import type { Life } from './life.ts';
import { act, type Habits } from './person.ts';
import { openSimLog } from './sim-log.ts';

/** Somebody whose commands read and write the log of the home themselves: submits, and meddles. */
export class SimClient extends KeptPerson {
  protected override async serve(life: Life): Promise<void> {
    const { random } = this.cluster;
    const log = await openSimLog(this.cluster, life);
    const plane = await ControlPlane.open(log, life.host, life.fail);
    const context: ClientContext = { cluster: this.cluster, life, plane };
    // Some wait for what happens; the others look when they want something.
    if (random.happens(0.5)) plane.subscribe(() => {});
    for (;;) {
      await sleep(life.host.timers, random.between(20, 5000));
      await act(this, context, habits);
    }
  }
}

const habits: Habits = { submits: 0.6, meddles: 0.7, meddle, sample, readsFirst: true, bringToRest };

/** Opens what somebody closed. */
async function bringToRest(context: ClientContext): Promise<void> {
  for (const node of context.plane.state.nodes.values()) {
    if (node.drain !== null) await ask(context, { kind: 'ResumeNode', node: node.name, by: context.life.name });
  }
}
