/**
 * Why a path cannot be that of something inside a tree; null when it can. Pure: it reads the text only.
 * Inside means relative, with `/`, without empty, `.` and `..` parts, and without NUL.
 */
export function whyNotTreePath(path: string): string | null {
  if (path === '') return 'is empty';
  if (path.includes('\0')) return 'contains a NUL byte';
  if (path.startsWith('/')) return 'is absolute';
  for (const part of path.split('/')) {
    if (part === '..') return 'leads out of the tree with ".."';
    if (part === '' || part === '.') return 'has an empty or "." part';
  }
  return null;
}

export type OutputPathCheck =
  | { readonly kind: 'inside'; readonly path: string }
  | { readonly kind: 'refused'; readonly code: 'PATH_ESCAPE'; readonly message: string; readonly hint: string };

/** Checks a declared output path and gives it without a leading `./` and a trailing `/`. Pure. */
export function checkOutputPath(declared: string): OutputPathCheck {
  const path = declared.replace(/^(\.\/+)+/, '').replace(/\/+$/, '');
  const isWhole = declared !== '' && (path === '' || path === '.') && !declared.startsWith('/');
  const why = isWhole
    ? 'names the whole work directory'
    : hasControlByte(declared)
      ? 'contains a control byte'
      : whyNotTreePath(path);
  if (why === null) return { kind: 'inside', path };
  return {
    kind: 'refused',
    code: 'PATH_ESCAPE',
    message: `output path ${JSON.stringify(declared)} ${why}`,
    hint: "an output is a file or folder inside the job's work directory, such as metrics.jsonl or checkpoints",
  };
}

function hasControlByte(text: string): boolean {
  return Array.from(text).some((character) => character < ' ' || character === '\x7f');
}

/** The folder part of a tree path; empty for what lies at the top. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '' : path.slice(0, slash);
}

/** True when `path` is `folder` or lies below it. */
export function isWithin(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`);
}
