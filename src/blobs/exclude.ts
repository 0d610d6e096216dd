import ignore, { type Ignore } from 'ignore';

/** The rules of one folder of a tree, or of several that stand together. */
interface Level {
  /** Folder that the rules are relative to; empty for the top. */
  readonly folder: string;
  readonly rules: Ignore;
}

/** The rules in force in a folder, the strongest first. */
export interface Excludes {
  readonly levels: readonly Level[];
}

/** Patterns from the job file: gitignore rules at the top of the tree, stronger than any file's. */
export function startExcludes(patterns: readonly string[]): Excludes {
  return { levels: [{ folder: '', rules: newRules().add([...patterns]) }] };
}

/** The rules below `folder`, given what its own ignore files say. Deeper files win, the job file's patterns win over all. */
export function enterFolder(above: Excludes, folder: string, ignoreFiles: readonly string[]): Excludes {
  const levels = above.levels.map((level) => reopened(level, folder));
  const rules = newRules();
  for (const text of ignoreFiles) rules.add(text);
  const [first, ...rest] = levels;
  if (ignoreFiles.length === 0 || first === undefined) return { levels };
  return { levels: [first, { folder, rules }, ...rest] };
}

/** Whether something does not travel. Its folder does, and `excludes` are that folder's. */
export function isExcluded(excludes: Excludes, path: string, isDirectory: boolean): boolean {
  for (const { folder, rules } of excludes.levels) {
    const result = rules.test(relativeTo(folder, path) + (isDirectory ? '/' : ''));
    if (result.ignored) return true;
    if (result.unignored) return false;
  }
  return false;
}

/**
 * A stronger level may have let a folder in that this level keeps out. Git then looks at this level's rules for what is
 * inside afresh; the library would keep everything inside out, so it is told that this one folder is in.
 */
function reopened(level: Level, folder: string): Level {
  const path = relativeTo(level.folder, folder);
  if (path === '' || !level.rules.test(`${path}/`).ignored) return level;
  const rules = newRules()
    .add(level.rules)
    .add(`!/${escaped(path)}/`);
  return { folder: level.folder, rules };
}

/** Git on Linux tells upper from lower case. */
function newRules(): Ignore {
  return ignore({ ignorecase: false });
}

function relativeTo(folder: string, path: string): string {
  return folder === '' ? path : path.slice(folder.length + 1);
}

function escaped(path: string): string {
  return path.replace(/[\\*?[\]!# ]/g, '\\$&');
}
