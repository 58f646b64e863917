import type { OutcomeScript } from '../../../../machines/email/script.ts';
import { Failure, invalidAt } from '../../../platform/errors/failure.ts';
import { mostDeferrals, SLOW_SIMULATED_SCHEDULE } from '../accept/attempt-schedule.ts';
import { MOST_OUTCOMES, readScript } from './read-script.ts';

/** The header by which a request says what becomes of its emails. */
export const SCRIPT_HEADER = 'x-svc-simulate';

const LIVE_KEY = new Failure(
  'FORBIDDEN',
  'Scripted outcomes are for test keys alone: the outcome of live email is known once it is sent.',
  { suggestion: 'Repeat the request with a test key.' },
);

interface SimulationFields {
  readonly simulate?: string;
  readonly testClockId?: string;
}

/** The most deferrals of an email whose attempts have the times of live mail. */
const FITTING = mostDeferrals(SLOW_SIMULATED_SCHEDULE, MOST_OUTCOMES);
const HOURS = SLOW_SIMULATED_SCHEDULE.patienceMs / 3_600_000;
const TOO_MANY = `Must have \`deferred\` at most ${FITTING} times where a test clock times the attempts: retries end after ${HOURS} hours, and the attempt after those is the last. End with \`expired\` for an email that is never taken.`;

/** The email of a request, with the script that its header names; what the email itself names goes before. */
export function withNamedScript<Body extends SimulationFields>(body: Body, headers: Headers): Body {
  const simulate = headers.get(SCRIPT_HEADER);
  return simulate === null || body.simulate !== undefined ? body : { ...body, simulate };
}

/**
 * The refusal of a request whose header is no script, whatever its emails say; null for one that is, or has
 * none.
 */
export function refusalOfHeader(
  { livemode }: { readonly livemode: boolean },
  headers: Headers,
  clocked: Pick<SimulationFields, 'testClockId'>,
): Failure | null {
  const simulate = headers.get(SCRIPT_HEADER);
  if (simulate === null) return null;
  const read = namedScript({ livemode }, { ...clocked, simulate }, `/headers/${SCRIPT_HEADER}`);
  return read instanceof Failure ? read : null;
}

/** The script that an email names; null where it names none. */
export function namedScript(
  { livemode }: { readonly livemode: boolean },
  { simulate, testClockId }: SimulationFields,
  path: string,
): OutcomeScript | Failure | null {
  if (simulate === undefined) return null;
  if (livemode) return LIVE_KEY;
  const script = readScript(simulate);
  if ('problem' in script) return invalidAt(path, script.problem);
  const isTooLong = testClockId !== undefined && script.outcome !== 'deferred' && script.deferrals > FITTING;
  return isTooLong ? invalidAt(path, TOO_MANY) : script;
}
