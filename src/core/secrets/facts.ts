/** What can be true of secrets. Boxes are sealed: who reads the log learns names and sizes. */
export type SecretFact =
  | {
      readonly kind: 'SecretSet';
      readonly project: string;
      readonly name: string;
      /** By the public key that opens them; all that there are. */
      readonly boxes: Readonly<Record<string, string>>;
      readonly by: string;
    }
  /** A node that can open it has sealed the same value to other nodes too. */
  | {
      readonly kind: 'SecretShared';
      readonly project: string;
      readonly name: string;
      readonly boxes: Readonly<Record<string, string>>;
      readonly node: string;
    }
  | { readonly kind: 'SecretRemoved'; readonly project: string; readonly name: string; readonly by: string };

/** Every kind of them. */
export const secretFactKinds = [
  'SecretSet',
  'SecretShared',
  'SecretRemoved',
] as const satisfies readonly SecretFact['kind'][];

const kinds: ReadonlySet<string> = new Set(secretFactKinds);

export function isSecretFact(fact: { readonly kind: string }): fact is SecretFact {
  return kinds.has(fact.kind);
}
