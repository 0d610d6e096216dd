/** In a file of its own: the types of the package reach no further than this. */
export interface ConnectOptions {
  /** `https://host:port`. */
  readonly server: string;
  /** Default: RUNYARD_TOKEN. One with `@sha256:…` pins the server's certificate. */
  readonly token?: string;
  /** Of the server's certificate; without one, those that this machine trusts must have signed it. */
  readonly fingerprint?: string;
  /** This user's own folder; default: RUNYARD_HOME, else `~/.runyard`. */
  readonly home?: string;
  /** Told when the server cannot be reached for a while, and when it can be again. */
  readonly onNote?: (message: string) => void;
}
