/** A longer file has more than one job. */
const MOST_LINES = 300;

/** Longer ones all the same, and why. */
const LONG: Readonly<Record<string, string>> = {
  'src/engine/engine.ts':
    'the one face of the engine: each public call with the paths that join them after a commit',
  'src/modules/emails/send/performer.ts':
    'one attempt of live mail from slot to outcome, read from top to bottom',
};

/** The problems of a file's size. Tests may be longer by a third: their cases are lists. */
export function sizeProblemsOf(path: string, lines: number): string[] {
  const most = /^(?:src|machines)\//.test(path) ? MOST_LINES : (MOST_LINES * 4) / 3;
  if (path in LONG) return lines > most ? [] : ['is not long any more: take it from the list of long files'];
  return lines > most ? [`has ${lines} lines, over ${most}: find the second job in it`] : [];
}
