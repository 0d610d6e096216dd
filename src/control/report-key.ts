/**
 * The idempotency key of a node's report. An agent numbers its reports and sends one again under its number until it is
 * answered, so that a report that arrives twice, or late and over an old connection, has one effect and one answer
 * (R4.29). That needs no number in the log: answers to keys are kept with the commit, and events of a later report
 * are never undone by an earlier one that comes again.
 */
export function reportKey({ node, instance, seq }: { node: string; instance: string; seq: number }): string {
  return `report/${node}/${instance}/${seq}`;
}
