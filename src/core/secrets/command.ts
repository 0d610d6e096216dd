/** What can be asked about secrets. Values are sealed before they get here. */
export type SecretCommand =
  | {
      readonly kind: 'SetSecret';
      readonly project: string;
      readonly name: string;
      /** By the public key that opens them. */
      readonly boxes: Readonly<Record<string, string>>;
      readonly by: string;
    }
  | { readonly kind: 'RemoveSecret'; readonly project: string; readonly name: string; readonly by: string };

/** A secret that a node has opened and sealed anew, for nodes that came later. */
export interface SharedSecret {
  readonly project: string;
  readonly name: string;
  /** The box that it opened; what was sealed from an older value is passed over. */
  readonly from: string;
  readonly boxes: Readonly<Record<string, string>>;
}
