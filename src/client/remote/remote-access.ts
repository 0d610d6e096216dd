import { refuse } from '../../core/refusal.ts';
import type { Projects, Tokens } from '../api.ts';
import { RefusalError } from '../refusal-error.ts';
import type { Remote } from './remote.ts';

export function createRemoteProjects({ http }: Remote): Projects {
  const list: Projects['list'] = async () => (await http.call('listProjects', {})).items;
  return {
    list,
    async get(name) {
      const found = (await list()).find((project) => project.name === name);
      if (found !== undefined) return found;
      const message = `there is no project ${JSON.stringify(name)}`;
      throw new RefusalError(refuse('NOT_FOUND', message, { hint: 'yard projects lists them' }));
    },
    async create(name, options = {}) {
      const { quota } = options;
      await http.call('createProject', { body: { name, ...(quota === undefined ? {} : { quota }) } });
    },
    async change(name, { quota, everyone }) {
      const body = { ...(quota === undefined ? {} : { quota }), ...(everyone === undefined ? {} : { everyone }) };
      await http.call('changeProject', { params: { name }, body });
    },
    async remove(name) {
      await http.call('removeProject', { params: { name } });
    },
    async grant(name, user, role) {
      await http.call('grantRole', { params: { name, user }, body: { role } });
    },
    async revoke(name, user) {
      await http.call('revokeRole', { params: { name, user } });
    },
  };
}

export function createRemoteTokens({ http }: Remote): Tokens {
  return {
    async list() {
      return (await http.call('listTokens', {})).items;
    },
    create: (options = {}) => http.call('createToken', { body: { kind: 'user', ...options } }),
    createJoin: (options = {}) => http.call('createToken', { body: { kind: 'join', ...options } }),
    async revoke(id) {
      await http.call('revokeToken', { params: { id } });
    },
  };
}
