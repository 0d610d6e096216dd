/** Programs whose first argument is the program that matters. */
const interpreters = /^(python[\d.]*|node|bash|sh|dash|zsh|ruby|perl|Rscript|julia|deno|bun|uv)$/;

/** The document that `yard run -- CMD…` stands for: the current directory is its workspace. */
export function documentOfCommand(argv: readonly string[]): {
  readonly job: {
    readonly name: string;
    readonly run: readonly string[];
    readonly workspace: { readonly workdir: '.' };
  };
} {
  return { job: { name: nameOfCommand(argv), run: argv, workspace: { workdir: '.' } } };
}

/** `train` for `python3 train.py`, `sh` for `sh -c '…'`: always a legal name. */
export function nameOfCommand(argv: readonly string[]): string {
  const program = baseName(argv[0] ?? '');
  if (!interpreters.test(program)) return legalName(program);
  const first = argv[1] ?? '';
  if (first === '-m') return legalName(argv[2] ?? program);
  return legalName(first === '' || first.startsWith('-') ? program : baseName(first));
}

function baseName(path: string): string {
  const last = path.split('/').findLast((part) => part !== '') ?? '';
  return last.replace(/(.)\.(py|js|mjs|ts|sh|rb|pl|R|jl)$/, '$1');
}

function legalName(text: string): string {
  const name = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 50)
    .replace(/-+$/, '');
  return name === '' ? 'job' : name;
}
