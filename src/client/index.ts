export type * from './api.ts';
export { RefusalError } from './refusal-error.ts';
export type { ConnectOptions } from './remote/connect-options.ts';
export { type OpenOptions, Runyard } from './runyard.ts';
