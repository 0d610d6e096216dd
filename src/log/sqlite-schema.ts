/**
 * The tables, as numbered steps that are only ever appended to. `PRAGMA user_version` says how many a file has had.
 * A step may add tables, columns and indices but takes nothing away: an older process beside a newer one goes on working.
 */
export const schemaSteps: readonly string[] = [
  `
  CREATE TABLE head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    incarnation TEXT NOT NULL,
    format INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    last_hash TEXT NOT NULL,
    now_ms INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    boot_id TEXT NOT NULL,
    boot_ms INTEGER NOT NULL,
    outage INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE batches (
    last_seq INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    now_ms INTEGER NOT NULL,
    boot_id TEXT NOT NULL,
    boot_ms INTEGER NOT NULL,
    format INTEGER NOT NULL,
    previous_hash TEXT NOT NULL,
    hash TEXT NOT NULL,
    facts TEXT NOT NULL
  ) STRICT;

  CREATE TABLE answers (
    key TEXT PRIMARY KEY,
    body_hash TEXT NOT NULL,
    answer TEXT NOT NULL,
    now_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX answers_by_age ON answers (now_ms);

  CREATE TABLE archive (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    project TEXT NOT NULL,
    owner TEXT NOT NULL,
    state TEXT NOT NULL,
    submitted_at_ms INTEGER NOT NULL,
    ended_at_ms INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE INDEX archive_by_end ON archive (ended_at_ms, id);
  CREATE INDEX archive_by_name ON archive (name, ended_at_ms, id);

  CREATE TABLE blobs (hash TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

  CREATE TABLE pins (
    holder TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (holder, hash)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX pins_by_hash ON pins (hash);

  CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT,
    epoch INTEGER NOT NULL,
    until_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE snapshots (
    seq INTEGER PRIMARY KEY,
    incarnation TEXT NOT NULL,
    hash TEXT NOT NULL,
    version INTEGER NOT NULL,
    state_hash TEXT NOT NULL,
    checksum TEXT NOT NULL
  ) STRICT;

  CREATE TABLE snapshot_parts (
    seq INTEGER NOT NULL,
    part INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (seq, part)
  ) STRICT;

  CREATE TABLE writers (
    id TEXT PRIMARY KEY,
    pid INTEGER,
    start_ticks INTEGER,
    boot_id TEXT,
    supports TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  'ALTER TABLE leases ADD COLUMN heard_at_ms INTEGER',
  'CREATE INDEX archive_by_submission ON archive (submitted_at_ms, id)',
];
