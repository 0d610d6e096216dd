export type TreeRefusalCode =
  | 'NO_WORKSPACE'
  | 'LINK_ESCAPE'
  | 'SPECIAL_FILE'
  | 'PATH_ESCAPE'
  | 'LANDING_CONFLICT'
  | 'BAD_NAME'
  | 'UNREADABLE'
  | 'CHANGED_DURING_PUSH'
  | 'WORKSPACE_TOO_LARGE';

/** A tree that cannot travel as it is: which path, why, and what the person can do. */
export class TreeRefusal extends Error {
  readonly code: TreeRefusalCode;
  readonly path: string;
  readonly hint: string;
  constructor(code: TreeRefusalCode, refusal: { path: string; message: string; hint: string; cause?: unknown }) {
    super(refusal.message, refusal.cause === undefined ? undefined : { cause: refusal.cause });
    this.name = 'TreeRefusal';
    this.code = code;
    this.path = refusal.path;
    this.hint = refusal.hint;
  }
}
