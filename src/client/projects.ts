import { unknownProject } from '../core/access/authorize.ts';
import { viewProjects } from '../core/access/view.ts';
import type { Projects } from './access-api.ts';
import { type Embedded, execute } from './embedded.ts';
import { RefusalError } from './refusal-error.ts';

export function createProjects(embedded: Embedded): Projects {
  const { plane, actor } = embedded;
  const by = actor.name;
  return {
    async list() {
      await plane.catchUp();
      return viewProjects(plane.state, actor);
    },
    async get(name) {
      await plane.catchUp();
      const project = viewProjects(plane.state, actor).find((one) => one.name === name);
      if (project === undefined) throw new RefusalError(unknownProject(plane.state, actor, name));
      return project;
    },
    async create(project, options) {
      await execute(embedded, { kind: 'CreateProject', project, quota: options?.quota ?? {}, by });
    },
    async change(project, { quota = {}, everyone }) {
      const more = everyone === undefined ? {} : { everyone };
      await execute(embedded, { kind: 'ChangeProject', project, quota, ...more, by });
    },
    async remove(project) {
      await execute(embedded, { kind: 'RemoveProject', project, by });
    },
    async grant(project, user, role) {
      await execute(embedded, { kind: 'GrantRole', project, user, role, by });
    },
    async revoke(project, user) {
      await execute(embedded, { kind: 'RevokeRole', project, user, by });
    },
  };
}
