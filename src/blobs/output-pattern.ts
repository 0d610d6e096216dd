/** True where somebody seems to mean many files: outputs are names, and such a one is hardly ever a file's. */
export function isLikePattern(path: string): boolean {
  return /[*?]/.test(path);
}
