/** The parts of a test by which a busy machine could fail it. */
const IMPATIENT: readonly { readonly what: RegExp; readonly says: string }[] = [
  {
    what: /\bBun\.sleep(?:Sync)?\(|\bsetTimeout\(|['"](?:node:)?timers\/promises['"]/,
    says: 'waits for a while: await the event itself, or ask with `eventually`',
  },
  {
    what: /\bperformance\.now\(\)\s*-|-\s*performance\.now\(\)/,
    says: 'holds a stopwatch: bound by counts or by order, or measure with tests/support/own-time.ts',
  },
  {
    what: /^\s*\}, [\d_]{4,}\);$/m,
    says: 'gives a test its own timeout: tests/support/preload.ts gives each enough time',
  },
];

/** The files that wait or measure all the same, each with the reason why it makes no test fail. */
const ALLOWED: Readonly<Record<string, string>> = {
  'tests/support/eventually.ts': 'the one place that polls',
  'tests/run.ts': 'reports the duration of a run, and judges nothing by it',
  'tests/support/own-time.ts': 'paces the twin whose rounds it counts',
  'tests/unit/mailboxes/imap-mailbox.test.ts':
    'compares a rest of the product with a timer that is due before it',
  'tests/unit/hazards.test.ts': 'shows what setTimeout itself does, and bounds times from below',
  'tests/unit/arrows.test.ts': 'quotes what these rules refuse',
  'tests/unit/semaphore.test.ts': 'bounds a time from below',
  'tests/integration/transport/direct.test.ts': 'bounds a time from below',
  'tests/integration/transport/scripted-smtp.ts': 'plays a server that is slow',
  'tests/support/limited-smtp.ts': 'plays a server that takes a while, and counts mails in a time',
  'tests/failure/rendering-held-still.test.ts': 'suspends and resumes a process in turns',
  'tests/failure/rendering-held-still.ts': 'goes on until a suspension was longer than a limit',
  'tests/failure/live-kill.test.ts': 'plays a server that takes a while to answer',
  'tests/failure/backup-load.ts': 'reports how long a backup took, and judges nothing by it',
  'tests/failure/patroni-load.ts': 'paces the clients of a command, which is no test',
  'tests/failure/patroni-run.ts': 'reports how long failovers took, and judges nothing by it',
  'tests/failure/report-servers/world.ts': 'paces the servers of a command, which is no test',
  'tests/failure/shared-sites-long.ts':
    'plays a slow server in a command, and reports times without judging by them',
  'tests/failure/relay-limits-long.ts': 'paces the client of a command, and judges no times',
  'tests/failure/received-load.ts': 'paces clients that come again, and bounds nothing by it',
  'tests/failure/received-load-long.ts': 'paces the faults of a command, and judges no times',
  'tests/failure/received-load-programs.ts': 'paces the clients of a command, which is no test',
  'tests/failure/kill.ts': 'reports how long restarts took, and judges nothing by it',
};

/**
 * The rules against impatience that the code of a test breaks. The bench, whose figures are times, is exempt.
 */
export const impatienceOf = (path: string, code: string): string[] =>
  !path.startsWith('tests/') || path.startsWith('tests/bench/') || path in ALLOWED
    ? []
    : IMPATIENT.flatMap(({ what, says }) => (what.test(code) ? [says] : []));
