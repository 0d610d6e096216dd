/** Words from elsewhere: each gets one line that names ours. */
export const habits: Readonly<Record<string, string>> = {
  ps: 'yard jobs',
  squeue: 'yard jobs',
  sinfo: 'yard nodes',
  kill: 'yard stop ID',
  scancel: 'yard stop ID',
  ssh: 'yard exec ID',
  cp: 'yard outputs ID',
  sbatch: 'yard submit FILE',
  srun: 'yard run -- CMD',
  sreport: 'yard usage',
  scale: 'yard services scale NAME N',
  rollout: 'yard services rollout pause|resume|undo NAME',
  kubectl: 'yard apply FILE, yard services',
  help: 'yard --help, yard COMMAND --help',
};

/** Words of ours that are to come: told so, and not taken for a misspelt one. */
export const planned: ReadonlySet<string> = new Set(['cluster', 'top', 'ui', 'backup', 'restore']);
