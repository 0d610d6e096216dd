import { integer, text } from './columns.ts';
import type { ArchivedRecord, ArchiveFilter } from './fact-log.ts';
import type { Connection, Row, Value } from './sqlite-connection.ts';
import type { LogTables } from './tables.ts';

export function archiveTable(
  db: Connection,
): Pick<LogTables, 'archivedIds' | 'archived' | 'listArchive' | 'putArchived' | 'deleteArchived'> {
  return {
    archivedIds: (ids) =>
      db
        .all('SELECT id FROM archive WHERE id IN (SELECT value FROM json_each(?))', JSON.stringify(ids))
        .map((row) => text(row, 'id')),
    archived: (id) => {
      const row = db.get('SELECT * FROM archive WHERE id = ?', id);
      return row === null ? null : readRecord(row);
    },
    listArchive: (filter) => {
      const { where, values } = conditions(filter);
      const newest = filter.order === 'submission' ? 'submitted_at_ms' : 'ended_at_ms';
      const sql = `SELECT * FROM archive ${where} ORDER BY ${newest} DESC, id DESC LIMIT ?`;
      return db.all(sql, ...values, filter.limit).map(readRecord);
    },
    putArchived: ({ id, name, project, owner, state, submittedAtMs, endedAtMs, record }) => {
      const json = JSON.stringify(record ?? null);
      const sql = 'INSERT OR REPLACE INTO archive VALUES (?, ?, ?, ?, ?, ?, ?, ?)';
      db.run(sql, id, name, project, owner, state, submittedAtMs, endedAtMs, json);
    },
    deleteArchived: (endedBeforeMs) => db.run('DELETE FROM archive WHERE ended_at_ms < ?', endedBeforeMs),
  };
}

/** Each filter's condition; the texts are fixed, so that every combination is prepared once. */
const filterConditions = {
  name: 'name = ?',
  project: 'project = ?',
  owner: 'owner = ?',
  state: 'state = ?',
  idPrefix: 'id >= ? AND id < (? || char(1114111))',
  beforeId: '(ended_at_ms, id) < (SELECT ended_at_ms, id FROM archive WHERE id = ?)',
  endedSinceMs: 'ended_at_ms >= ?',
  submittedUpToMs: 'submitted_at_ms <= ?',
} as const satisfies Record<Exclude<keyof ArchiveFilter, 'limit' | 'order'>, string>;

function conditions(filter: ArchiveFilter): { where: string; values: Value[] } {
  const texts: string[] = [];
  const values: Value[] = [];
  for (const [key, condition] of Object.entries(filterConditions)) {
    const wanted = filter[key as keyof typeof filterConditions];
    if (wanted === undefined) continue;
    texts.push(condition);
    for (let places = condition.split('?').length - 1; places > 0; places -= 1) values.push(wanted);
  }
  return { where: texts.length === 0 ? '' : `WHERE ${texts.join(' AND ')}`, values };
}

function readRecord(row: Row): ArchivedRecord {
  const record: unknown = JSON.parse(text(row, 'record'));
  return {
    id: text(row, 'id'),
    name: text(row, 'name'),
    project: text(row, 'project'),
    owner: text(row, 'owner'),
    state: text(row, 'state'),
    submittedAtMs: integer(row, 'submitted_at_ms'),
    endedAtMs: integer(row, 'ended_at_ms'),
    record,
  };
}
