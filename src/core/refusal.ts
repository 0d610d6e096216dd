/**
 * Every refusal Runyard gives, as one table: the HTTP status and what the code means.
 * The reference in docs/ lists exactly these codes, and a test holds it to that.
 */
export const refusals = {
  BAD_REQUEST: { status: 400, meaning: 'The request cannot be read as what it should be.' },
  UNKNOWN_KEY: { status: 400, meaning: 'A key that does not exist at that place.' },
  MISSING_KEY: { status: 400, meaning: 'A required key is absent.' },
  BAD_VALUE: { status: 400, meaning: 'A value of the wrong type or form.' },
  RANGE: { status: 400, meaning: 'A number or length outside what is allowed.' },
  BAD_NAME: {
    status: 400,
    meaning: 'A name that is not 1 to 50 of a-z, 0-9 and "-", starting with a letter or digit.',
  },
  BAD_BYTE: { status: 400, meaning: 'A NUL or control byte where text is passed to the operating system.' },
  BAD_ENV_KEY: { status: 400, meaning: 'An environment name that is empty or contains "=" or a NUL.' },
  ENV_TOO_LARGE: { status: 400, meaning: 'Arguments and environment larger than the kernel passes to a process.' },
  PATH_ESCAPE: { status: 400, meaning: 'A path that leaves the place it is relative to.' },
  NO_WORKSPACE: { status: 400, meaning: 'The workspace directory does not exist.' },
  LINK_ESCAPE: { status: 400, meaning: 'A link that leads out of the workspace.' },
  SPECIAL_FILE: {
    status: 400,
    meaning: 'A socket, device or pipe where only files, directories and links can travel.',
  },
  UNREADABLE: { status: 400, meaning: 'Something in the workspace that the user may not read.' },
  CHANGED_DURING_PUSH: { status: 409, meaning: 'Something in the workspace that changed while it was read.' },
  WORKSPACE_TOO_LARGE: {
    status: 400,
    meaning: 'A workspace above 1 GiB or 100,000 files that nobody asked for by name.',
  },
  LANDING_CONFLICT: { status: 409, meaning: 'Something of another kind stands where an output lands.' },
  LANDING_FAILED: { status: 409, meaning: 'A folder that outputs cannot be written to.' },
  PORT_CONFLICT: { status: 400, meaning: 'A port that is taken or reserved.' },
  NEVER_FIRES: { status: 400, meaning: 'A rule that no history of events could ever fulfil.' },
  RESERVED: { status: 400, meaning: 'A word that is kept for later and does nothing yet.' },
  PRIVILEGE: { status: 400, meaning: 'A request to run as another user or with more rights than the agent has.' },
  TOO_DEEP: { status: 400, meaning: 'A document nested deeper than 64 levels.' },
  TOO_LARGE: { status: 413, meaning: 'A document larger than 1 MiB.' },
  UNAUTHORIZED: { status: 401, meaning: 'No token, or one that is unknown, was revoked or has expired.' },
  FORBIDDEN: { status: 403, meaning: 'Whoever asks may see it, and may not do that with it.' },
  QUOTA: { status: 409, meaning: 'The project may have no more of it.' },
  TOO_MANY: { status: 429, meaning: 'Too many requests, or too many that failed, in a short time. Try again later.' },
  NOT_FOUND: { status: 404, meaning: 'Nothing has that id or name.' },
  AMBIGUOUS: { status: 409, meaning: 'An id prefix that fits several.' },
  WRONG_STATE: { status: 409, meaning: 'The command does not fit the state the thing is in.' },
  STALE_ATTEMPT: { status: 409, meaning: 'A report from an attempt or agent that has been replaced.' },
  NOT_ASSIGNED: { status: 403, meaning: 'A node spoke for a task that was never placed on it.' },
  IDEMPOTENCY_MISMATCH: { status: 409, meaning: 'The idempotency key was used before with another body.' },
  MISSING_BLOBS: { status: 409, meaning: 'The submission names content that has not been pushed.' },
  SECRET_NOT_SET: { status: 409, meaning: 'The submission names a secret that is not set.' },
  ID_TAKEN: { status: 409, meaning: 'The id belongs to another job; another is drawn by itself.' },
  NO_NODE: { status: 409, meaning: 'No node is running.' },
  CLOCK_SKEW: { status: 400, meaning: 'A node whose clock is more than an hour off.' },
  FUTURE_ATTEMPT: {
    status: 409,
    meaning:
      'A report of an attempt that was never placed here: this log was restored, or is not the one it comes from.',
  },
  NODE_TAKEN: { status: 409, meaning: 'Another agent already serves this node name.' },
  STORE_FULL: {
    status: 507,
    meaning: 'The disk that holds the log is full; nothing was applied. Try again with room.',
  },
  WRONG_METHOD: { status: 405, meaning: 'The path exists, and does not take this HTTP method.' },
  TIMED_OUT: { status: 408, meaning: 'The request did not arrive in time.' },
  UNSUPPORTED_ENCODING: { status: 415, meaning: 'A body that is compressed, or not of the type that the route takes.' },
  MISDIRECTED: { status: 421, meaning: 'A request for a host that this server is not.' },
  INTERNAL: { status: 500, meaning: 'The server failed; its log has the cause under the id in the message.' },
  STOPPING: { status: 503, meaning: 'The server is about to end. Try again.' },
  UNREACHABLE: { status: 503, meaning: 'The server does not answer, or answers in a way that is not its own.' },
  UNTRUSTED: { status: 502, meaning: 'Whoever answers in the place of the server shows another certificate.' },
  INCOMPATIBLE: { status: 409, meaning: 'Two of our programs that have no version of their protocol in common.' },
  UNSUPPORTED: { status: 404, meaning: 'The server has no such route; it may be older than whoever asks.' },
  READ_ONLY: { status: 503, meaning: 'This process cannot read the log far enough to write to it.' },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type RefusalCode = keyof typeof refusals;

/** A command that was not carried out: a value, never thrown inside the core. The state is as it was. */
export interface Refusal {
  readonly refused: true;
  readonly code: RefusalCode;
  /** One sentence: what was found, where, and what was expected. */
  readonly message: string;
  /** What to do about it, where there is something. */
  readonly hint: string | null;
  /** Where in the input, as a dotted path such as `job.env.A`. */
  readonly path: string | null;
}

export function refuse(
  code: RefusalCode,
  message: string,
  more: { hint?: string | null; path?: string | null } = {},
): Refusal {
  return { refused: true, code, message, hint: more.hint ?? null, path: more.path ?? null };
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'refused' in value && value.refused === true;
}
