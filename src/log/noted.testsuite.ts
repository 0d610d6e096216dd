/** The one fact of the log's own tests. */
export interface Noted {
  readonly kind: string;
  readonly by: string;
  readonly count: number;
}

export const noted = (by: string, count: number): Noted => ({ kind: 'Noted', by, count });
