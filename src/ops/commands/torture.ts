import { isExecutable } from '../../platform/config/environment.ts';
import type { Safeguard } from '../../platform/config/settings/chaos-setting.ts';
import { INVARIANTS, type Invariant } from '../torture/judge/invariants.ts';
import type { LiveMail, Verdict } from '../torture/judge/judge.ts';
import type { ClientActionCounts } from '../torture/judge/outside-record.ts';
import { type Outcome, type Progress, torture } from '../torture/torture.ts';
import { stopRequested } from './serving/shutdown.ts';
import type { Terminal } from './terminal.ts';

/** The options of `posthorn torture`. */
export interface TortureRequest {
  readonly seconds: number;
  readonly instances: number;
  /** One instance on the database inside the process. */
  readonly embedded?: boolean;
  readonly break?: readonly Safeguard[];
  readonly seed: number;
  readonly postgresBin?: string;
  readonly workers: number;
  readonly webhooks: boolean;
  readonly live: boolean;
  readonly clocks: boolean;
}

/** The command that starts this program again: the executable, or the runtime with the entry point. */
export const ownCommand = (): readonly string[] =>
  isExecutable() ? [process.execPath] : [process.execPath, process.argv[1] ?? ''];

const TELL_EVERY_S = 5;

/**
 * Runs `posthorn torture`; the exit code is 1 when an invariant was violated, as one must be with `--break`.
 */
export async function runTorture(request: TortureRequest, terminal: Terminal): Promise<number> {
  const { seconds, seed, embedded = false } = request;
  const instances = embedded ? 1 : request.instances;
  terminal.error(
    `Running ${embedded ? 'an instance with its embedded database' : `${instances} instances`} under faults for ${seconds} s, seed ${seed}${request.break ? `, without ${request.break.join(', ')}` : ''} …\n`,
  );
  const tell = (progress: Progress) => {
    if (progress.seconds % TELL_EVERY_S === 0)
      terminal.error(
        `${String(progress.seconds).padStart(5)} s  ${progress.acknowledged} acknowledged, ${progress.faults} faults\n`,
      );
  };
  const outcome = await torture(
    {
      seconds,
      instances,
      embedded,
      seed,
      broken: request.break ?? [],
      postgresBin: request.postgresBin ?? null,
      command: ownCommand(),
      workers: request.workers,
      webhooks: request.webhooks,
      live: request.live,
      campaigns: request.live,
      clocks: request.clocks,
      enough: stopRequested(),
    },
    tell,
  );
  terminal.out(tortureReport(outcome));
  if (outcome.verdict.violated.size > 0) for (const text of outcome.output) terminal.error(text);
  return outcome.verdict.violated.size === 0 ? 0 : 1;
}

/** Writes the report of a run. */
export function tortureReport({ verdict, faults, repliesSwallowed, sinkFaults, exercised }: Outcome): string {
  const { acknowledged, unanswered, emails, ends, inDoubt, lostAttempts } = verdict;
  const { events, repeatedEvents, violated, examples } = verdict;
  const count = (invariant: Invariant) => violated.get(invariant) ?? 0;
  const sum = [...faults.values()].reduce((total, times) => total + times, 0);
  const width = Math.max(...Object.values(INVARIANTS).map((sentence) => sentence.length));
  return [
    `Faults        ${sum}: ${counted(faults)}`,
    `              ${repliesSwallowed} replies to commits were swallowed`,
    `Acknowledged  ${acknowledged} of ${acknowledged + unanswered.emails} emails; ${unanswered.mayBeThere} others may have been stored; ${emails} are stored`,
    ...exercisedLines(verdict, exercised),
    `Ended         ${Object.entries(ends)
      .map(([end, times]) => `${times} ${end}`)
      .join(', ')}`,
    `Lost          ${count('lost') + count('unfinished') + count('lostEvent')}`,
    `Doubled       ${count('doubled') + count('keyTwice') + count('storedTwice')}`,
    `In doubt      ${inDoubt} performed more than once after one of ${lostAttempts} lost attempts, and marked so`,
    ...liveLines(verdict.live, sinkFaults),
    ...(verdict.mail
      ? [
          `Received      ${verdict.mail.acknowledged} messages were answered 250, ${verdict.mail.unanswered} were not; handed in again ${verdict.mail.again} times; ${verdict.mail.stored} rows`,
        ]
      : []),
    // In a short run a campaign may be over before its turn to be paused has come.
    ...(verdict.campaigns
      ? [
          `Campaigns     ${verdict.campaigns.begun}, paused ${verdict.campaigns.pauses} times, ${verdict.campaigns.deleted} of their audiences deleted`,
        ]
      : []),
    `Webhooks      ${events} events, ${repeatedEvents} of them received more than once`,
    '',
    ...(Object.keys(INVARIANTS) as Invariant[])
      .filter((invariant) => events > 0 || !invariant.endsWith('delivered'))
      .filter((invariant) => verdict.live !== null || !LIVE.includes(invariant))
      .map((invariant) => {
        const times = count(invariant);
        return `${times === 0 ? '✓' : '✗'} ${INVARIANTS[invariant].padEnd(width)}  ${times === 0 ? '' : `violated ${times} times`}`.trimEnd();
      }),
    ...(examples.length > 0 ? ['', ...examples] : []),
    '',
    violated.size === 0 ? 'Every invariant held.' : 'An invariant was violated.',
    '',
  ].join('\n');
}

/** Counts what the run has exercised: an invariant that nothing exercised proves nothing. */
function exercisedLines(
  { inBatches, toTwo, declined, live, runs, campaigns, mail }: Verdict,
  { batches, twiceAtOnce, askedAgain, replayed, refusedConnections }: ClientActionCounts,
): readonly string[] {
  const times = new Map([
    ['batch', batches],
    ['email of a batch', inBatches],
    ['email to two', toTwo],
    ['attempt declined for want of a slot', declined],
    ['keyed request sent to two at once', twiceAtOnce],
    ['keyed request asked again', askedAgain],
    ['stored answer given again', replayed],
    ['connection refused', refusedConnections],
    // Flows are live alone.
    ...(live ? [['run of a flow', runs] as const] : []),
    ...(mail
      ? [['message received', mail.acknowledged] as const, ['message handed in again', mail.again] as const]
      : []),
    ...(campaigns
      ? ([
          ['campaign', campaigns.begun],
          ['look at the numbers of a campaign', campaigns.looks],
          ['audience of a campaign deleted', campaigns.deleted],
        ] as const)
      : []),
  ]);
  const never = [...times].flatMap(([what, often]) => (often === 0 ? [what] : []));
  return [
    `Exercised     ${counted(times)}`,
    ...(never.length > 0 ? [`NOT EXERCISED ${never.join(', ')}`] : []),
  ];
}

/** The invariants that only live mail can violate. */
const LIVE: readonly Invariant[] = [
  'missingMessage',
  'takenTwice',
  'heldTwice',
  'unknownMessage',
  'mailLost',
  'mailTwice',
  'mailRefused',
  'mailForeign',
];

const counted = (times: ReadonlyMap<string, number>): string =>
  [...times]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([what, often]) => `${often} × ${what}`)
    .join(', ');

function liveLines(live: LiveMail | null, faults: ReadonlyMap<string, number>): readonly string[] {
  if (live === null) return [];
  const { taken, twice, unknown, heldToTheEnd } = live;
  return [
    `Live mail     ${taken} messages are at the mail server, ${twice} of them more than once; its faults: ${counted(faults)}`,
    `              ${unknown} attempts had an unknown result; ${heldToTheEnd} messages whose unknown result was held until they expired had arrived`,
  ];
}
