import { TreeRefusal } from './tree-refusal.ts';

/** The directory of a workspace is not there, or is none. */
export function noWorkspace(directory: string): TreeRefusal {
  return new TreeRefusal('NO_WORKSPACE', {
    path: directory,
    message: `the workspace ${directory} is no directory`,
    hint: 'workspace.workdir names a folder, relative to the job file',
  });
}
