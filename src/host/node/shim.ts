import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Launch } from '../processes.ts';
import { toHostError } from './system-error.ts';

/**
 * The shim, in the `sh` that every system has. It alone touches the job's process.
 *
 * It claims the start, runs the command in a foreground subshell (waiting in the background loses statuses under
 * signals) that writes its own run record and then execs, and writes the exit record. Each record is one short write
 * with an end mark, so that a torn one counts as absent; a rename would cost a program each.
 * `sh` shows a death by signal only as 128+n, but it prints a line when a child was killed: that line, in `.shim`,
 * tells `kill -9 $$` from `exit 137`. For SIGINT and SIGPIPE shells print nothing, so 130 and 141 always count as signals.
 */
const shimText = `# Runyard's shim: runs one command and records how it ended. Argument: the launch file.
# Secrets come on stdin, where the launch file says so; a last line says that all of them came.
case $BASH_VERSION in '') ;; *) set +o posix ;; esac
set -f
file=$1
secrets=
. "$file" || exit 1
if [ -n "$secrets" ]; then
  secrets=$(cat)
  case $secrets in *'
# end') ;; *) exit 1 ;; esac
fi
base=$directory/$label

# Sets pid and ticks to those of the (sub)shell that calls it.
identify() {
  if [ -r /proc/self/stat ]; then
    read -r stat </proc/self/stat
    pid=\${stat%% *}
    set -- \${stat##*) }
    ticks=\${20}
  else
    pid=$(exec sh -c 'echo $PPID')
    ticks=\\"$(LC_ALL=C TZ=UTC0 ps -o lstart= -p "$pid")\\"
  fi
  identity="\\"pid\\":$pid,\\"startTicks\\":$ticks,\\"bootId\\":\\"$boot\\",\\"end\\":true"
}

# Written over what was reserved, without making the file anew: spaces before the record are none of it.
finish() {
  printf '%199s\\n' "{$1,\\"end\\":true}" 1<>"$base.exit.json"
  [ -z "$bell" ] || printf '%s\\n' "$directory" >>"$bell"
  exit 0
}

trap : TERM INT HUP QUIT USR1 USR2 ALRM PIPE
identify
set -C
printf '{%s}\\n' "$identity" 2>/dev/null >"$base.claim.$nonce" || exit 0
set +C
# The room that the exit record will need: a job may fill the disk, and its end must be told all the same.
printf '%199s\\n' '' >|"$base.exit.json" || {
  rm -f "$base.claim.$nonce"
  exit 0
}
: >|"$file"
exec 2>"$base.shim"
cd -- "$workdir" || finish '"fault":"workdir"'

(
  exec </dev/null >>"$base.out" 3>>"$base.err" || exit 1
  for group in $groups; do
    { echo 0 >"$group"; } 2>/dev/null || :
  done
  identify
  printf '{%s}\\n' "$identity" >|"$base.run.json" || {
    : >|"$base.run.json"
    exit 1
  }
  if [ -n "$secrets" ]; then
    set -- "$(command -v env)" "$@"
    eval "$secrets" || exit 1
    exec "$@" 2>&3 3>&-
  fi
  exec env "$@" 2>&3 3>&-
)
status=$?

[ -s "$base.run.json" ] || finish '"fault":"start"'
killed=no
case $status in 130 | 141) killed=yes ;; esac
[ ! -s "$base.shim" ] || killed=yes
if [ "$status" -gt 128 ] && [ "$status" -le 192 ] && [ $killed = yes ]; then
  finish "\\"code\\":null,\\"signal\\":$((status - 128))"
fi
finish "\\"code\\":$status,\\"signal\\":null"
`;

/** Where the programs stand that the shim itself needs (env, and ps on macOS). */
export const shimPath = '/usr/bin:/bin:/usr/local/bin';

/**
 * Writes a program's text into the directory under a name that carries its hash, unless it is there already. A shell
 * reads its script while it runs it, so that the text of an older agent must stay as it was.
 */
export function installProgram(directory: string, kind: 'shim.sh' | 'launcher.pl', text: string): string {
  const [stem, ending] = kind.split('.');
  const path = join(directory, `${stem}-${createHash('sha256').update(text).digest('hex').slice(0, 12)}.${ending}`);
  if (existsSync(path)) return path;
  mkdirSync(directory, { recursive: true });
  const beside = `${path}.${process.pid}.tmp`;
  writeFileSync(beside, text, { mode: 0o600 });
  renameSync(beside, path);
  return path;
}

export interface ShimStart {
  /** Where the shim's text is kept. */
  readonly directory: string;
  readonly shell?: readonly string[];
  readonly launch: Launch;
  readonly bootId: string;
  /** Files that the command's process writes `0` to, to join its cgroups. */
  readonly groups: readonly string[];
}

/** Starts the `sh` shim in a session of its own; resolves when it has been spawned. */
export async function launchShim({ directory, shell, launch, bootId, groups }: ShimStart): Promise<void> {
  const program = installProgram(directory, 'shim.sh', shimText);
  const secretText = writeSecrets(launch);
  const launchFile = join(launch.directory, `${launch.label}.launch.${launch.nonce}`);
  const [command = '', ...words] = shell ?? ['/bin/sh'];
  try {
    writeFileSync(launchFile, writeLaunchFile(launch, bootId, groups), { mode: 0o600 });
    const shim = spawn(command, [...words, program, launchFile], {
      cwd: launch.directory,
      detached: true,
      stdio: [secretText === '' ? 'ignore' : 'pipe', 'ignore', 'ignore'],
      env: { PATH: shimPath, RUNYARD_MARK: launch.mark },
    });
    await once(shim, 'spawn');
    // A shim that ended early has left its claim to whoever comes next.
    shim.stdin?.on('error', () => {}).end(secretText);
    shim.unref();
  } catch (error) {
    throw toHostError(error, launchFile);
  }
}

/** Shell text, not arguments: the list of processes must not show what the environment holds. */
function writeLaunchFile(launch: Launch, bootId: string, groups: readonly string[]): string {
  const secrets = Object.keys(launch.secretEnv ?? {});
  const variables = Object.entries(launch.env).flatMap(([name, value]) =>
    secrets.includes(name) ? [] : [`${name}=${value}`],
  );
  const settings = {
    directory: launch.directory,
    label: launch.label,
    nonce: launch.nonce,
    boot: bootId,
    bell: launch.bell ?? '',
    workdir: launch.workdir,
    groups: groups.join('\n'),
    secrets: secrets.length === 0 ? '' : 'on stdin',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${quote(value)}`);
  const words = [...cleanEnvironment(secrets), '--', ...variables, ...envCommand(launch.argv)];
  return `${lines.join('\n')}\nset -- ${words.map(quote).join(' ')}\n`;
}

/** What the shim itself has in its environment, or a shell puts there. */
const shellVariables = ['PATH', 'RUNYARD_MARK', 'PWD', 'OLDPWD', 'SHLVL', '_'];

/** `env -i` is exact. Secrets are exported to `env` instead of named to it, and the rest is taken away by name. */
function cleanEnvironment(secrets: readonly string[]): readonly string[] {
  if (secrets.length === 0) return ['-i'];
  return shellVariables.filter((name) => !secrets.includes(name)).flatMap((name) => ['-u', name]);
}

/** Shell text that exports the secrets, with an end mark; empty where there are none. */
function writeSecrets({ secretEnv = {} }: Launch): string {
  const entries = Object.entries(secretEnv);
  if (entries.length === 0) return '';
  return `${entries.map(([name, value]) => `export ${name}=${quote(value)}\n`).join('')}# end`;
}

/** `env` takes a first word with `=` in it for one more variable, so such a program needs a shell that execs it. */
function envCommand(argv: readonly string[]): readonly string[] {
  return argv[0]?.includes('=') ? ['sh', '-c', 'exec "$0" "$@"', ...argv] : argv;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
