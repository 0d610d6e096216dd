import type { StoredBatch } from './batch.ts';
import { integer, text } from './columns.ts';
import type { TimeAnchor } from './log-time.ts';
import type { Connection, Row } from './sqlite-connection.ts';
import type { Head, LogTables } from './tables.ts';

export function headTable(db: Connection): Pick<LogTables, 'head' | 'setHead'> {
  return {
    head: () => {
      const row = db.get('SELECT * FROM head');
      if (row === null) throw new Error('the log has no head row: it was never set up');
      return readHead(row);
    },
    setHead: (head) => writeHead(db, head),
  };
}

export function writeHead(db: Connection, { incarnation, format, lastSeq, lastHash, anchor, outage }: Head): void {
  db.run(
    'INSERT OR REPLACE INTO head VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ...[incarnation, format, lastSeq, lastHash],
    ...[anchor.nowMs, anchor.atMs, anchor.bootId, anchor.bootMs, outage ? 1 : 0],
  );
}

function readHead(row: Row): Head {
  return {
    incarnation: text(row, 'incarnation'),
    format: integer(row, 'format'),
    lastSeq: integer(row, 'last_seq'),
    lastHash: text(row, 'last_hash'),
    anchor: readAnchor(row),
    outage: integer(row, 'outage') === 1,
  };
}

export function batchTable(
  db: Connection,
): Pick<LogTables, 'batchesAfter' | 'batchEndingAt' | 'addBatch' | 'deleteBatches'> {
  return {
    batchesAfter: (seq, limit) =>
      db.all('SELECT * FROM batches WHERE last_seq > ? ORDER BY last_seq LIMIT ?', seq, limit).map(readStoredBatch),
    batchEndingAt: (lastSeq) => {
      const row = db.get('SELECT * FROM batches WHERE last_seq = ?', lastSeq);
      return row === null ? null : readStoredBatch(row);
    },
    addBatch: ({ seq, lastSeq, id, atMs, nowMs, bootId, bootMs, format, previousHash, hash, factsText }) => {
      db.run(
        'INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
        ...[lastSeq, seq, id, atMs, nowMs, bootId, bootMs, format, previousHash, hash, factsText],
      );
    },
    deleteBatches: (lastSeq, limit) =>
      db.run(
        `DELETE FROM batches WHERE last_seq IN
           (SELECT last_seq FROM batches WHERE last_seq <= ? ORDER BY last_seq LIMIT ?)`,
        lastSeq,
        limit,
      ),
  };
}

function readStoredBatch(row: Row): StoredBatch {
  return {
    ...readAnchor(row),
    seq: integer(row, 'seq'),
    lastSeq: integer(row, 'last_seq'),
    id: text(row, 'id'),
    format: integer(row, 'format'),
    previousHash: text(row, 'previous_hash'),
    hash: text(row, 'hash'),
    factsText: text(row, 'facts'),
  };
}

function readAnchor(row: Row): TimeAnchor {
  return {
    nowMs: integer(row, 'now_ms'),
    atMs: integer(row, 'at_ms'),
    bootId: text(row, 'boot_id'),
    bootMs: integer(row, 'boot_ms'),
  };
}
