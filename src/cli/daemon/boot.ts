import { mkdir, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { Context, Options } from '../context.ts';
import { writeNodeOptions } from './node-options.ts';
import { unitName, writeUnit } from './unit.ts';

/** Writes the systemd unit and says what enables it: of the system for root, of the user for anybody else. */
export async function writeBootUnit(context: Context, node: string, options: Options): Promise<void> {
  const { path, user } = unitPlace(context, node);
  const command = [...context.self, 'node', 'start', '--home', context.home, ...writeNodeOptions(options, context.cwd)];
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, writeUnit({ node, command, user }));
  const control = user ? 'systemctl --user' : 'systemctl';
  const lines = [
    `wrote ${path}`,
    `  ${control} daemon-reload`,
    `  ${control} enable --now ${unitName(node)}`,
    ...(user ? ['  loginctl enable-linger      starts it at boot, not at login'] : []),
  ];
  context.output.answer({ unit: path }, () => lines.join('\n'));
}

export async function removeBootUnit(context: Context, node: string): Promise<void> {
  const { path, user } = unitPlace(context, node);
  const control = user ? 'systemctl --user' : 'systemctl';
  await rm(path, { force: true });
  context.output.answer({ unit: path, removed: true }, () =>
    [`removed ${path}`, `  ${control} disable --now ${unitName(node)}`, `  ${control} daemon-reload`].join('\n'),
  );
}

function unitPlace(context: Context, node: string): { readonly path: string; readonly user: boolean } {
  if (process.getuid?.() === 0) return { path: `/etc/systemd/system/${unitName(node)}`, user: false };
  const config = context.env.XDG_CONFIG_HOME ?? resolve(homedir(), '.config');
  return { path: `${config}/systemd/user/${unitName(node)}`, user: true };
}
