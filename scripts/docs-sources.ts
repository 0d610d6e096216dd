/** What scripts/docs.mjs reads: the tables that the product itself runs on. */
export { commands, globalOptions } from '../src/cli/catalogue/catalogue.ts';
export { habits } from '../src/cli/catalogue/habits.ts';
export { submissionOptions } from '../src/cli/catalogue/submission-options.ts';
export { exitCodes } from '../src/cli/exit-code.ts';
export { actions, permissions } from '../src/core/access/permissions.ts';
export { roleMeanings } from '../src/core/access/principal.ts';
export { factKinds } from '../src/core/fact.ts';
export { jobMoves, transitions } from '../src/core/job/lifecycle.ts';
export { nodeStates } from '../src/core/node/view.ts';
export { builtInSettings, settingKeys } from '../src/core/profile/settings.ts';
export { endReasons, waitReasons } from '../src/core/reason.ts';
export { refusals } from '../src/core/refusal.ts';
export { rolloutMoves, serviceStates } from '../src/core/service/service.ts';
export { routes } from '../src/wire/http/routes.ts';
export { jobFileJsonSchema, profileFileJsonSchema, serviceFileJsonSchema } from '../src/wire/json-schema.ts';
export { profileKeys } from '../src/wire/profile-table.ts';
export { writeSetting } from '../src/wire/write-setting.ts';
