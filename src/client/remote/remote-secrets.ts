import type { JobSpec } from '../../core/job/spec.ts';
import { refuseUnset } from '../../core/secrets/decide.ts';
import { RefusalError } from '../refusal-error.ts';
import type { Secrets } from '../secret-api.ts';
import type { Remote } from './remote.ts';

/** Values are sealed here, to the keys of the nodes: the server gets boxes that it cannot open (G14). */
export function createRemoteSecrets(remote: Remote): Secrets {
  const { http } = remote;
  const secrets: Secrets = {
    async list(options = {}) {
      return (await http.call('listSecrets', { query: inProject(options.project) })).items;
    },
    async set(name, value, options) {
      const { sealForAll } = await import('../secrets/seal-for-all.ts');
      const keys = (await secrets.keys()).map(({ publicKey }) => publicKey);
      await secrets.setSealed(name, await sealForAll(value, keys), options);
    },
    async setSealed(name, boxes, options = {}) {
      await http.call('setSecret', { params: { name }, body: { boxes: { ...boxes }, ...inProject(options.project) } });
    },
    async remove(name, options = {}) {
      await http.call('removeSecret', { params: { name }, query: inProject(options.project) });
    },
    require: (spec, options) => requireSecrets(remote, spec, options?.project),
    async keys() {
      return (await http.call('secretKeys', {})).items;
    },
  };
  return secrets;
}

/** Told before anything is pushed; the server looks at it again. Asks nothing where no secret is named. */
export async function requireSecrets(remote: Remote, spec: Pick<JobSpec, 'env'>, project = 'default'): Promise<void> {
  if (!Object.values(spec.env).some((value) => typeof value !== 'string')) return;
  const set = new Set((await createRemoteSecrets(remote).list({ project })).map(({ name }) => name));
  const unset = refuseUnset(spec, project, (name) => set.has(name));
  if (unset !== null) throw new RefusalError(unset);
}

function inProject(project: string | undefined): { readonly project?: string } {
  return project === undefined ? {} : { project };
}
