// Writes the tables of docs/reference/ from the sources, between `<!-- generated: NAME -->` and `<!-- end -->`.
//
//   node scripts/docs.mjs           writes them
//   node scripts/docs.mjs --check   writes nothing; exits 1 and names the pages that no longer agree with the sources

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { factMeanings, settingMeanings } from './docs-meanings.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const reference = join(root, 'docs/reference');
const checks = process.argv.includes('--check');

const sources = await loadSources();
const tables = renderTables(sources);
const used = new Set();
const stale = [
  ...readdirSync(reference).filter((name) => name.endsWith('.md') && fillIn(join(reference, name))),
  ...Object.entries(renderSchemas(sources)).flatMap(([name, text]) => (put(join(reference, name), text) ? [name] : [])),
];
const unused = Object.keys(tables).filter((name) => !used.has(name));
if (unused.length > 0) throw new Error(`no page of docs/reference has a place for: ${unused.join(', ')}`);
if (checks && stale.length > 0) {
  console.error(`error: docs/reference disagrees with the sources: ${stale.join(', ')}\n  node scripts/docs.mjs`);
  process.exitCode = 1;
}

/** The tables of the product, bundled on the spot: Node 20 reads no TypeScript. */
async function loadSources() {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'scripts/docs-sources.ts')],
    bundle: true,
    format: 'esm',
    platform: 'node',
    // A command's definition names its module, which is loaded only when the command runs.
    external: ['../commands/*'],
    write: false,
    logLevel: 'error',
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

function renderTables(sources) {
  const { refusals, endReasons, waitReasons, factKinds, jobMoves, transitions, rolloutMoves, serviceStates } = sources;
  const pairs = (object) => Object.entries(object).map(([name, text]) => [code(name), text]);
  return {
    refusals: table(
      ['code', 'HTTP status', 'meaning'],
      Object.entries(refusals).map(([name, { status, meaning }]) => [code(name), String(status), meaning]),
    ),
    roles: table(['role', 'what it may do'], pairs(sources.roleMeanings)),
    permissions: table(['what', 'who may'], permissionRows({ ...sources.permissions, ...sources.actions })),
    endReasons: table(['reason', 'meaning'], pairs(endReasons)),
    waitReasons: table(['reason', 'meaning'], pairs(waitReasons)),
    jobMoves: moveTable(jobMoves),
    nodeStates: table(['state', 'meaning'], pairs(sources.nodeStates)),
    serviceStates: table(['state', 'meaning'], pairs(serviceStates)),
    rolloutMoves: moveTable(rolloutMoves),
    transitions: table(['event', 'is news at', 'leads to', 'decides the outcome'], transitionRows(transitions)),
    facts: table(['fact', 'what became true'], meaningRows(factKinds, factMeanings, 'fact')),
    settings: table(['key', 'default', 'meaning'], settingRows(sources)),
    commands: table(['command', 'what it does', 'its options'], commandRows(sources)),
    submissionOptions: optionTable(sources.submissionOptions),
    globalOptions: optionTable(sources.globalOptions),
    habits: table(
      ['elsewhere', 'here'],
      pairs(sources.habits).map(([word, ours]) => [word, code(ours)]),
    ),
    routes: table(['route', 'who', 'what', 'query', 'answer'], routeRows(sources.routes)),
    exitCodes: table(['reason', 'exit code'], exitCodeRows(sources.exitCodes)),
  };
}

function moveTable(moves) {
  const rows = Object.entries(moves).map(([from, to]) => [
    code(from),
    to.map(code).join(', ') || 'nothing: it has ended',
  ]);
  return table(['from', 'to'], rows);
}

/** For editors that check a file while it is written. */
function renderSchemas({ jobFileJsonSchema, serviceFileJsonSchema, profileFileJsonSchema }) {
  const schemas = { job: jobFileJsonSchema(), service: serviceFileJsonSchema(), profile: profileFileJsonSchema() };
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [`${name}.schema.json`, `${JSON.stringify(schema, null, 2)}\n`]),
  );
}

function permissionRows(permissions) {
  return Object.entries(permissions).map(([what, permission]) => [code(what), whoMay(permission)]);
}

function whoMay({ of, role, others }) {
  switch (of) {
    case 'project':
      return `${role} of the project`;
    case 'job':
    case 'service':
      return role === others ? `${role} of its project` : `${role} of its project, ${others} where it is of others`;
    case 'any':
      return `${role} of some project`;
    case 'installation':
      return 'administrators';
    case 'token':
      return 'the user that it is for, and administrators';
    case 'node':
      return 'the node, for itself';
    case 'system':
      return 'nobody: the control plane does it by itself';
    default:
      throw new Error(`nothing says who ${of} is`);
  }
}

function commandRows({ commands, submissionOptions }) {
  return commands.map(({ words, args, summary, options }) => {
    const submits = submissionOptions.every((one) => options.includes(one));
    const own = options.filter((one) => !submits || !submissionOptions.includes(one)).map(({ flags }) => code(flags));
    const listed = [...(submits ? ['those on submission'] : []), ...own].join(', ');
    return [code(`yard ${words} ${args}`.trim()), summary, listed === '' ? '–' : listed];
  });
}

function optionTable(options) {
  const rows = options.map(({ flags, description, repeats }) => [
    code(flags),
    description + (repeats === true ? '; may be given several times' : ''),
  ]);
  return table(['option', 'what it does'], rows);
}

function exitCodeRows(exitCodes) {
  return Object.entries(exitCodes).map(([reason, exitCode]) => [
    code(reason),
    exitCode === 'own' ? "the command's own; 128 + n when it was killed by signal n" : String(exitCode),
  ]);
}

function routeRows(routes) {
  const openedBy = { public: 'anybody', 'user-or-node': 'user, node', join: 'join token', identity: 'issuer' };
  return Object.values(routes).map(({ method, path, access, summary, query, answer }) => [
    code(`${method} ${path}`),
    openedBy[access] ?? access,
    summary,
    query === undefined ? '–' : Object.keys(query.shape).map(code).join(' '),
    answer.kind === 'none' ? '–' : answer.kind,
  ]);
}

function transitionRows(transitions) {
  const decisions = { no: 'no', failure: 'yes: a failure', 'by-exit': 'yes: by the exit code' };
  return Object.entries(transitions).map(([event, { at, to, decides, stopsFirst }]) => [
    code(event),
    at.map(code).join(' '),
    code(to) + (stopsFirst ? ', once its processes are stopped' : ''),
    decisions[decides],
  ]);
}

/** Settings that a file may name, as they are written there. */
function settingRows({ builtInSettings, settingKeys, profileKeys, writeSetting }) {
  const defaultOf = (key) => key.split('.').reduce((object, part) => object[part], builtInSettings);
  const isAbsent = (value) => value === null || (typeof value === 'object' && Object.keys(value).length === 0);
  const meanings = meaningRows(settingKeys, settingMeanings, 'setting').map(([, meaning]) => meaning);
  return settingKeys.flatMap((name, position) => {
    const { key, value } = writeSetting(name, defaultOf(name));
    if (!profileKeys.includes(key.split('.')[0])) return [];
    return [[code(key), isAbsent(defaultOf(name)) ? '–' : code(value), meanings[position]]];
  });
}

function meaningRows(names, meanings, what) {
  const extra = Object.keys(meanings).filter((name) => !names.includes(name));
  if (extra.length > 0)
    throw new Error(`scripts/docs-meanings.mjs explains a ${what} that does not exist: ${extra.join(', ')}`);
  return names.map((name) => {
    if (meanings[name] === undefined) throw new Error(`scripts/docs-meanings.mjs does not explain the ${what} ${name}`);
    return [code(name), meanings[name]];
  });
}

function table(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n');
}

function code(text) {
  return `\`${text}\``;
}

/** Puts the tables into a page; true when it was stale. */
function fillIn(path) {
  const before = readFileSync(path, 'utf8');
  const after = before.replace(/(<!-- generated: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g, (_whole, start, name, end) => {
    if (tables[name] === undefined) throw new Error(`${path} asks for the table ${name}, which does not exist`);
    used.add(name);
    return `${start}${tables[name]}\n${end}`;
  });
  return put(path, after);
}

/** True when the file did not hold this text already. */
function put(path, text) {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return false;
  if (!checks) writeFileSync(path, text);
  return true;
}
