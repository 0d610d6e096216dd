/** Of whom a server truly heard, and when: the ground truth for what leases say. Log time throughout, in milliseconds. */
export class Hearing {
  /** Nothing goes wrong any more. */
  isCalm = false;
  readonly heards: Heard[] = [];
  /** When a server began to listen, or to go on after it had stood still. */
  readonly begins: number[] = [];

  heard(node: string, instance: string, atMs: number): void {
    this.heards.push({ node, instance, atMs });
  }

  began(atMs: number): void {
    this.begins.push(atMs);
  }
}

export interface Heard {
  readonly node: string;
  readonly instance: string;
  readonly atMs: number;
}
