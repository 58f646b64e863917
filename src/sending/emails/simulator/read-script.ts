import { eventTypesWith } from '../../../../machines/email/event-traits.ts';
import {
  type OutcomeScript,
  SIMULATED_REPORTS,
  type SimulatedReport,
} from '../../../../machines/email/script.ts';
import { DAY_MS } from '../../../platform/time/clock.ts';

/** The most characters of a script, as it is written. */
export const LONGEST_SCRIPT = 1_000;
/** The most outcomes of a script, repetitions counted. */
export const MOST_OUTCOMES = 50;
/** The most time between the acceptance and the last outcome. */
const LONGEST_MS = 30 * DAY_MS;

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS } as const;
type Unit = keyof typeof UNIT_MS;

/** The outcomes of an attempt, which no report follows. */
const ENDS = { bounced: 'refused', suppressed: 'suppressed', expired: 'deferred' } as const;
type End = keyof typeof ENDS;

const NAMES = ['deferred', 'sent', 'expired', 'suppressed', ...Object.keys(SIMULATED_REPORTS)];
/** The acts that need a delivered message. */
const BY_PEOPLE: ReadonlySet<string> = new Set(eventTypesWith('isByRecipient'));
/** The events that are recorded once for a recipient, or not twice in a row. */
const NEVER_AGAIN: ReadonlySet<string> = new Set(['delivered', 'complained', 'unsubscribed']);

/** One outcome of a script: `opened*2+5m` is opened twice, each time five minutes after what was before. */
interface Step {
  readonly name: string;
  readonly times: number;
  readonly afterMs: number;
}

const STEP = /^([a-z-]+)(?:\*(\d{1,4}))?(?:\+(\d{1,7})([smhd]))?$/;

export interface ScriptProblem {
  readonly problem: string;
}

/** Reads a script: outcomes with commas between them, in the order in which they come. */
export function readScript(text: string): OutcomeScript | ScriptProblem {
  if (text.length > LONGEST_SCRIPT)
    return { problem: `Must have at most ${LONGEST_SCRIPT.toLocaleString('en')} characters.` };
  const steps: Step[] = [];
  for (const part of text.split(',')) {
    const step = readStep(part.trim());
    if ('problem' in step) return step;
    steps.push(step);
  }
  const outcomes = steps.reduce((sum, { times }) => sum + times, 0);
  if (outcomes > MOST_OUTCOMES)
    return { problem: `Must have at most ${MOST_OUTCOMES} outcomes, repetitions counted.` };
  const span = steps.reduce((sum, { times, afterMs }) => sum + times * afterMs, 0);
  if (span > LONGEST_MS) return { problem: 'Must end at most 30 days after the email was taken.' };
  return scriptOf(steps);
}

function readStep(part: string): Step | ScriptProblem {
  const [, name = '', times = '1', amount = '0', unit = 's'] = STEP.exec(part) ?? [];
  const shown = JSON.stringify(part.slice(0, 40));
  if (name === '')
    return { problem: `Must be outcomes like "deferred*2, delivered, opened+5m", which ${shown} is not.` };
  if (!NAMES.includes(name))
    return { problem: `Must be made of ${NAMES.join(', ')}; ${shown} is none of them.` };
  if (Number(times) === 0) return { problem: `Must repeat an outcome at least once, unlike ${shown}.` };
  return { name, times: Number(times), afterMs: Number(amount) * UNIT_MS[unit as Unit] };
}

const isEnd = (name: string): name is End => Object.hasOwn(ENDS, name);

/** The attempts first: until one takes the message nothing can be reported of it. */
function scriptOf(steps: readonly Step[]): OutcomeScript | ScriptProblem {
  let deferrals = 0;
  let place = 0;
  for (; steps[place]?.name === 'deferred'; place++) {
    const { times, afterMs } = steps[place] as Step;
    if (afterMs > 0) return NO_DELAY;
    deferrals += times;
  }
  const first = steps[place];
  if (!first) return { problem: 'Must say what comes after the last `deferred`, such as `delivered`.' };
  if (isEnd(first.name) && !(first.name === 'bounced' && first.afterMs > 0)) {
    if (first.afterMs > 0) return NO_DELAY;
    if (first.times > 1 || steps.length > place + 1) return nothingFollows(first.name);
    return { deferrals, outcome: ENDS[first.name], reports: [] };
  }
  if (first.name === 'sent') {
    if (first.afterMs > 0) return NO_DELAY;
    if (first.times > 1) return { problem: 'Must have `sent` once: an email is taken once.' };
    place++;
  }
  const reports = reportsOf(steps.slice(place));
  return 'problem' in reports ? reports : { deferrals, outcome: 'accepted', reports };
}

const NO_DELAY: ScriptProblem = {
  problem:
    'Must have no delay at what an attempt comes to: attempts have the times of their schedule. A delay is for what is reported afterwards.',
};
const nothingFollows = (name: string): ScriptProblem => ({
  problem: `Must end with \`${name}\`, once: nothing follows it.`,
});

type Reports = OutcomeScript['reports'][number];

function reportsOf(steps: readonly Step[]): readonly Reports[] | ScriptProblem {
  const reports: { readonly afterMs: number; readonly what: SimulatedReport[] }[] = [];
  const add = (name: SimulatedReport, afterMs: number): void => {
    const last = reports.at(-1);
    if (last && afterMs === 0) last.what.push(name);
    else reports.push({ afterMs, what: [name] });
  };
  const seen = new Set<string>();
  let before = '';
  const needsDelivery = steps.every(({ name }) => name !== 'delivered');
  for (const { name, times, afterMs } of steps) {
    if (before === 'bounced') return nothingFollows('bounced');
    if (!isReport(name))
      return { problem: `Must have \`${name}\` before anything that is reported of the email.` };
    if (name === 'bounced' && times > 1) return nothingFollows(name);
    if (NEVER_AGAIN.has(name) && (times > 1 || seen.has(name)))
      return { problem: `Must have \`${name}\` once: it is recorded once for a recipient.` };
    if (name === 'bounced-transient' && (times > 1 || before === name))
      return { problem: `Must not have \`${name}\` twice in a row: it is recorded once.` };
    // A recipient who opens it has got it.
    if (needsDelivery && BY_PEOPLE.has(name) && !seen.has('delivered')) {
      seen.add('delivered');
      add('delivered', 0);
    }
    for (let time = 0; time < times; time++) add(name, afterMs);
    seen.add(name);
    before = name;
  }
  return reports;
}

const isReport = (name: string): name is SimulatedReport => Object.hasOwn(SIMULATED_REPORTS, name);
