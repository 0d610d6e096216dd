import type { SubmitJob } from '../../core/command.ts';
import type { JobSpec } from '../../core/job/spec.ts';
import type { PartialSettings } from '../../core/profile/settings.ts';
import type { RefusalCode } from '../../core/refusal.ts';
import { submissionOf } from '../submission.ts';

/** What is wrong with a submission, by the code that it must be refused with. */
export const oddSubmissions: readonly {
  readonly code: RefusalCode;
  readonly spec?: Partial<JobSpec>;
  readonly settings?: PartialSettings;
}[] = [
  { code: 'BAD_NAME', spec: { name: 'No Name' } },
  { code: 'BAD_VALUE', spec: { run: ' ' } },
  { code: 'BAD_ENV_KEY', spec: { env: { 'A=B': 'x' } } },
  { code: 'BAD_BYTE', spec: { args: ['a\u0000b'] } },
  { code: 'ENV_TOO_LARGE', spec: { args: ['x'.repeat(131_072)] } },
  { code: 'PATH_ESCAPE', spec: { outputs: ['../outside'] } },
  { code: 'SECRET_NOT_SET', spec: { env: { KEY: { secret: 'unset' } } } },
  { code: 'PORT_CONFLICT', spec: { env: { PORT: '80' } }, settings: { port: true } },
  { code: 'RANGE', settings: { resources: { cpus: -1 } } },
  { code: 'NEVER_FIRES', settings: { rollout: { maxSurge: 0, maxUnavailable: 0 } } },
];

export function oddSubmission(id: string, spec: Partial<JobSpec> = {}, settings: PartialSettings = {}): SubmitJob {
  const usual = { name: 'odd', run: 'true', setup: null, workspace: null, outputs: [], env: {}, args: [] };
  return submissionOf({ spec: { ...usual, ...spec }, settings, ids: [id] });
}
