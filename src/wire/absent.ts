export type Present<Table> = { [Key in keyof Table]?: Exclude<Table[Key], undefined> };

/** The table without what it does not give. */
export function dropAbsent<Table extends object>(table: Table): Present<Table> {
  return Object.fromEntries(Object.entries(table).filter(([, value]) => value !== undefined)) as Present<Table>;
}
