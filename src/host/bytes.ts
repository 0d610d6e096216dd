/** Hashing and compression: behind the host since real ones finish in a different order in every run. */
export interface Digests {
  /** Lower-case hex SHA-256. */
  sha256(bytes: Uint8Array): string;
  /** Hash of a whole file, read as a stream; null when absent. */
  sha256File(path: string): Promise<{ hash: string; sizeBytes: number } | null>;
  /** Compares two texts in a time that tells nothing of where they differ; for digests of secrets. */
  timingSafeEqual(a: string, b: string): boolean;
}

export interface Compression {
  gzip(bytes: Uint8Array): Promise<Uint8Array>;
  /** Refuses with HostError `TOO_LARGE` above `maxBytes` of output. */
  gunzip(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array>;
}
