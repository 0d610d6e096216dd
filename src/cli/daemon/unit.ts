/** The systemd unit of an agent: it may be restarted at any time without its jobs noticing. */
export interface UnitOptions {
  readonly node: string;
  readonly command: readonly string[];
  readonly user: boolean;
}

export function writeUnit({ node, command, user }: UnitOptions): string {
  return `[Unit]
Description=Runyard node ${node}
${user ? '' : 'After=network-online.target\nWants=network-online.target\n'}
[Service]
ExecStart=${command.map(quote).join(' ')}
Restart=on-failure
RestartSec=1
# Refused for good: only a person can change that.
RestartPreventExitStatus=78
# Processes of jobs outlive the agent: only the agent itself is signalled, and its cgroups are its own to make.
KillMode=process
Delegate=yes

[Install]
WantedBy=${user ? 'default.target' : 'multi-user.target'}
`;
}

export function unitName(node: string): string {
  return `runyard-${node}.service`;
}

/** As systemd reads it: quotes, and no specifiers or variables. */
function quote(word: string): string {
  const escaped = word.replaceAll('%', '%%').replaceAll('$', '$$$$').replace(/["\\]/g, '\\$&');
  return /^[\w@%+=:,./-]+$/.test(word) ? escaped : `"${escaped}"`;
}
