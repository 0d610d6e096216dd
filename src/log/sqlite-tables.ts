import { bytes, integer, text } from './columns.ts';
import type { StoredAnswer } from './fact-log.ts';
import { archiveTable } from './sqlite-archive.ts';
import { batchTable, headTable } from './sqlite-batches.ts';
import type { Connection, Row } from './sqlite-connection.ts';
import type { LogTables, StoredLease, StoredSnapshot, Writer } from './tables.ts';

/** The tables on a connection; whoever calls holds a transaction, or reads one row at a time. */
export function createSqliteTables(db: Connection): LogTables {
  return {
    ...headTable(db),
    ...batchTable(db),
    ...answerTable(db),
    ...archiveTable(db),
    ...blobTables(db),
    ...leaseTable(db),
    ...snapshotTable(db),
    ...writerTable(db),
  };
}

function answerTable(db: Connection): Pick<LogTables, 'answers' | 'putAnswer' | 'deleteAnswers'> {
  return {
    answers: (keys) =>
      db
        .all('SELECT * FROM answers WHERE key IN (SELECT value FROM json_each(?))', JSON.stringify(keys))
        .map((row): StoredAnswer => {
          const answer: unknown = JSON.parse(text(row, 'answer'));
          return { key: text(row, 'key'), bodyHash: text(row, 'body_hash'), answer };
        }),
    putAnswer: ({ key, bodyHash, answer }, nowMs) => {
      db.run(
        'INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)',
        key,
        bodyHash,
        JSON.stringify(answer ?? null),
        nowMs,
      );
    },
    deleteAnswers: (beforeMs, limit) =>
      db.run(
        'DELETE FROM answers WHERE key IN (SELECT key FROM answers WHERE now_ms < ? ORDER BY now_ms LIMIT ?)',
        beforeMs,
        limit,
      ),
  };
}

function blobTables(
  db: Connection,
): Pick<LogTables, 'storedBlobs' | 'addBlobs' | 'deleteUnpinnedBlobs' | 'pinnedBlobs' | 'pin' | 'unpin'> {
  const hashOf = (row: Row): string => text(row, 'hash');
  return {
    storedBlobs: (hashes) =>
      db
        .all('SELECT hash FROM blobs WHERE hash IN (SELECT value FROM json_each(?))', JSON.stringify(hashes))
        .map(hashOf),
    addBlobs: (hashes) => {
      db.run('INSERT OR IGNORE INTO blobs SELECT value FROM json_each(?)', JSON.stringify(hashes));
    },
    deleteUnpinnedBlobs: (hashes) => {
      const unpinned = db
        .all(
          `SELECT DISTINCT value AS hash FROM json_each(?)
           WHERE NOT EXISTS (SELECT 1 FROM pins WHERE pins.hash = value)`,
          JSON.stringify(hashes),
        )
        .map(hashOf);
      db.run('DELETE FROM blobs WHERE hash IN (SELECT value FROM json_each(?))', JSON.stringify(unpinned));
      return unpinned;
    },
    pinnedBlobs: () => db.all('SELECT DISTINCT hash FROM pins ORDER BY hash').map(hashOf),
    pin: (holder, hashes) => {
      db.run('INSERT OR IGNORE INTO pins SELECT ?, value FROM json_each(?)', holder, JSON.stringify(hashes));
    },
    unpin: (holder) => {
      db.run('DELETE FROM pins WHERE holder = ?', holder);
    },
  };
}

function leaseTable(db: Connection): Pick<LogTables, 'leases' | 'lease' | 'putLease'> {
  const read = (row: Row): StoredLease => ({
    name: text(row, 'name'),
    holder: row.holder === null ? null : text(row, 'holder'),
    epoch: integer(row, 'epoch'),
    untilMs: integer(row, 'until_ms'),
    heardAtMs: row.heard_at_ms === null ? null : integer(row, 'heard_at_ms'),
  });
  return {
    leases: () => db.all('SELECT * FROM leases ORDER BY name').map(read),
    lease: (name) => {
      const row = db.get('SELECT * FROM leases WHERE name = ?', name);
      return row === null ? null : read(row);
    },
    putLease: ({ name, holder, epoch, untilMs, heardAtMs }) => {
      const columns = 'name, holder, epoch, until_ms, heard_at_ms';
      const values = [name, holder, epoch, untilMs, heardAtMs] as const;
      db.run(`INSERT OR REPLACE INTO leases (${columns}) VALUES (?, ?, ?, ?, ?)`, ...values);
    },
  };
}

function snapshotTable(
  db: Connection,
): Pick<LogTables, 'snapshotSeqs' | 'snapshot' | 'putSnapshot' | 'deleteSnapshot'> {
  const deleteParts = (seq: number): number => db.run('DELETE FROM snapshot_parts WHERE seq = ?', seq);
  return {
    snapshotSeqs: () => db.all('SELECT seq FROM snapshots ORDER BY seq DESC').map((row) => integer(row, 'seq')),
    snapshot: (seq) => {
      const row = db.get('SELECT * FROM snapshots WHERE seq = ?', seq);
      return row === null
        ? null
        : readSnapshot(row, db.all('SELECT * FROM snapshot_parts WHERE seq = ? ORDER BY part', seq));
    },
    putSnapshot: ({ seq, incarnation, hash, version, stateHash, checksum, parts }) => {
      const sql = 'INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?, ?)';
      db.run(sql, seq, incarnation, hash, version, stateHash, checksum);
      deleteParts(seq);
      for (const [index, part] of parts.entries()) {
        db.run('INSERT INTO snapshot_parts VALUES (?, ?, ?, ?)', seq, index, part.sizeBytes, part.bytes);
      }
    },
    deleteSnapshot: (seq) => {
      db.run('DELETE FROM snapshots WHERE seq = ?', seq);
      deleteParts(seq);
    },
  };
}

function readSnapshot(row: Row, parts: readonly Row[]): StoredSnapshot {
  return {
    seq: integer(row, 'seq'),
    incarnation: text(row, 'incarnation'),
    hash: text(row, 'hash'),
    version: integer(row, 'version'),
    stateHash: text(row, 'state_hash'),
    checksum: text(row, 'checksum'),
    parts: parts.map((part) => ({ sizeBytes: integer(part, 'size_bytes'), bytes: bytes(part, 'bytes') })),
  };
}

function writerTable(db: Connection): Pick<LogTables, 'writers' | 'putWriter' | 'deleteWriter'> {
  return {
    writers: () => db.all('SELECT * FROM writers ORDER BY id').map(readWriter),
    putWriter: ({ id, identity, supports }) => {
      const { pid = null, startTicks = null, bootId = null } = identity ?? {};
      const sql = 'INSERT OR REPLACE INTO writers VALUES (?, ?, ?, ?, ?)';
      db.run(sql, id, pid, startTicks, bootId, JSON.stringify(supports));
    },
    deleteWriter: (id) => {
      db.run('DELETE FROM writers WHERE id = ?', id);
    },
  };
}

function readWriter(row: Row): Writer {
  const identity =
    row.pid === null
      ? null
      : { pid: integer(row, 'pid'), startTicks: integer(row, 'start_ticks'), bootId: text(row, 'boot_id') };
  return { id: text(row, 'id'), identity, supports: JSON.parse(text(row, 'supports')) as readonly number[] };
}
