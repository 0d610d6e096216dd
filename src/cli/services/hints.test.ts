import { describe, expect, it } from 'vitest';
import type { ServiceView } from '../../core/service/view.ts';
import { probeDefaults } from '../../core/supervision/probe.ts';
import { chooseOutput } from '../output/choose.ts';
import { keepStreams } from '../output/fake-streams.testsuite.ts';
import { createServiceNarrator } from './service-narrator.ts';
import { verdictOn } from './verdict.ts';
import { nowMs, replicaView, rolloutView, serviceView } from './views.testsuite.ts';

/** What is said in a pipe while these are seen. */
function narrate(views: readonly ServiceView[]): string {
  const { streams, stderr } = keepStreams();
  const narrator = createServiceNarrator({
    output: chooseOutput(streams, { json: false, quiet: false }),
    nowMs: () => nowMs,
  });
  for (const view of views) narrator.see(view);
  return stderr();
}

const refused = 'not ready: port 41873 refused';
const silent = (reason: string | null): ServiceView =>
  serviceView({ ready: 0, replicas: [replicaView('llm-4tq8ws', { reason })] });
const hint = 'listen on $PORT, or write port = false where nobody connects to it';

describe('a replica that listens nowhere', () => {
  it('is said once with its reason, and that one which serves nobody has no port [B10]', () => {
    const said = narrate([silent(null), silent(refused), silent(refused)]);
    expect(said.match(/^llm-4tq8ws.*$/gm)).toEqual([
      'llm-4tq8ws  rev 5  starting',
      'llm-4tq8ws  rev 5  starting     port 41873 refused',
    ]);
    expect(said).toContain(`\n  ${hint}\n`);
    const failed = { rollout: rolloutView({ state: 'failed', reason: `llm-4tq8ws ${refused}` }) };
    expect(verdictOn({ ...silent(refused), ...failed }, 5)?.line.below).toContain(hint);
  });

  it('is only told so where nobody wrote a probe that asks the port', () => {
    const readiness = { ...probeDefaults, ask: { kind: 'tcp' } } as const;
    const { replicas } = silent(refused);
    const written = replicas.map((one) => ({ ...one, settings: { ...one.settings, readiness } }));
    expect(narrate([serviceView({ ready: 0, replicas: written })])).not.toContain(hint);
    expect(narrate([silent('not ready: GET /healthz answered 503')])).not.toContain(hint);
  });
});

describe('a program that is not there', () => {
  it('is said to have to come with the workspace, whoever found that out', () => {
    for (const cause of ['no-such: No such file or directory', 'no-such: not found']) {
      const reason = `llm-4tq8ws ended: cannot start: ${cause}`;
      const verdict = verdictOn(serviceView({ ready: 0, rollout: rolloutView({ state: 'failed', reason }) }), 5);
      expect(verdict?.line.below?.at(0)).toMatch(/workspace or setup has to bring it/);
    }
  });
});
