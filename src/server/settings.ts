/** How a server runs; lengths of time in milliseconds. */
export interface ServerSettings {
  /** Address to listen on, and port; port 0 takes a free one. */
  readonly listen: { readonly host: string; readonly port: number };
  /** The certificate and its key as PEM files; null: one of its own, made at the first start. */
  readonly tls: { readonly certPath: string; readonly keyPath: string } | null;
  /** How clients reach it where that is not its listen address, such as `https://yard.example.org`. */
  readonly publicUrl: string | null;
  readonly oidc: OidcSettings | null;
  readonly limits: ServerLimits;
}

/** How people sign in at an OpenID Connect issuer. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** The claim that becomes the user's name. */
  readonly claim: string;
}

export interface ServerLimits {
  /** Until the headers of a request are there [R4.15]. */
  readonly headersMs: number;
  /** Until its body is there; of a body of bytes, the longest pause in it. */
  readonly bodyMs: number;
  readonly connectionsPerPeer: number;
  readonly connections: number;
  /** Failed tokens from one address, and for one token id, within `guessWindowMs` before the answer is 429 [R4.23]. */
  readonly guesses: number;
  readonly guessWindowMs: number;
  /** Between two comments on a stream that has nothing to say. */
  readonly keepAliveMs: number;
  /** For requests under way when the server stops. */
  readonly stopMs: number;
}

export const defaultLimits: ServerLimits = {
  headersMs: 10_000,
  bodyMs: 30_000,
  connectionsPerPeer: 2_000,
  connections: 10_000,
  guesses: 20,
  guessWindowMs: 60_000,
  keepAliveMs: 15_000,
  stopMs: 10_000,
};

export const defaultListen = { host: '0.0.0.0', port: 7443 } as const;
