import type { Context, Invocation } from '../context.ts';
import { checkHome, checkMachine, type Finding } from '../doctor/checks.ts';
import { failed } from '../exit-code.ts';
import { layoutTable } from '../output/table.ts';

/** Looks for what is wrong here, and says what to do about each thing. */
export async function execute(context: Context, _invocation: Invocation): Promise<number> {
  const findings: Finding[] = [...(await checkMachine(context)), ...(await checkHome(context))];
  const bad = findings.filter(({ state }) => state === 'bad');
  context.output.answer(findings, (width) => {
    const rows = findings.map(({ what, state, found, todo }) => [
      state === 'good' ? 'ok' : state === 'bad' ? 'WRONG' : 'note',
      what,
      todo === null ? found : `${found}: ${todo}`,
    ]);
    const verdict =
      bad.length === 0 ? 'nothing is wrong' : `${bad.length} ${bad.length === 1 ? 'thing is' : 'things are'} wrong`;
    return `${layoutTable(['', 'WHAT', 'FOUND'], rows, width)}\n\n${verdict}`;
  });
  return bad.length === 0 ? 0 : failed;
}
