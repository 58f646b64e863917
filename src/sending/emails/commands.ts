import type { EventResultOf } from '../../engine/machine/result.ts';
import type { Call } from '../../http/request/route.ts';
import { Failure, invalidAt, notFound } from '../../platform/errors/failure.ts';
import type { RescheduleBody, SendBody } from './accept/request-model.ts';
import { readScheduledAt } from './accept/scheduled-at.ts';
import {
  type Acceptance,
  type AcceptanceDeps,
  type AcceptRequest,
  acceptEmail,
  receiptOf,
} from './accept.ts';
import { onNamedClock } from './clocked/clock-of-email.ts';
import type { EmailReceipt } from './read/answer-model.ts';
import { refusalOfHeader, withNamedScript } from './simulator/named-script.ts';

// Other modules reach emails through this file alone.
// biome-ignore lint/performance/noBarrelFile: the sending of a batch, beside the commands themselves.
export { type BatchDeps, batchSender } from './accept/batch.ts';
export { parseReplyTo, replyDomainOf, storedReplyTo } from './accept/reply-to.ts';
export {
  type ClockUsage,
  clockOfHeader,
  LIVE_KEY,
  type StandingClock,
  type TestClocks,
} from './clocked/clock-of-email.ts';
export type { DirectMail } from './transports/direct-mail.ts';

/** Sends or schedules one email: `POST /v1/emails`. */
export function sendEmail(
  deps: AcceptanceDeps,
  { caller, body, claim, now, headers, unheard, isGivenUp }: Call<unknown, unknown, SendBody>,
  further: Pick<AcceptRequest, 'threadId' | 'onBehalf'> = {},
): Promise<Acceptance> | Failure {
  const joined = withNamedScript(onNamedClock(body, headers), headers);
  return (
    refusalOfHeader(caller, headers, joined) ??
    acceptEmail(deps, {
      sender: caller,
      body: joined,
      claim,
      now,
      at: '/body',
      unheard,
      isGivenUp,
      ...further,
    })
  );
}

type SchedulingDeps = Pick<AcceptanceDeps, 'engine' | 'testClocks'>;

/** Moves a scheduled email to another time. */
export async function rescheduleEmail(
  { engine, testClocks }: SchedulingDeps,
  { caller, params, body, now: realNow }: Call<{ readonly id: string }, unknown, RescheduleBody>,
): Promise<EmailReceipt | Failure> {
  const clock = caller.livemode ? null : await testClocks()?.ofEmail(caller.workspaceId, params.id, true);
  if (clock instanceof Failure) return clock;
  const now = clock?.now ?? realNow;
  const scheduledAt = readScheduledAt(body.scheduledAt, now);
  if (typeof scheduledAt !== 'number') return invalidAt('/body/scheduledAt', scheduledAt.problem);
  const event = { type: 'reschedule.requested', at: now, scheduledAt } as const;
  const told = await engine.tell('email', params.id, event, { scope: caller });
  // It may be due at the time of the clock.
  if (clock && told.outcome === 'changed') testClocks()?.entered(caller.workspaceId, clock);
  return receiptOrFailure(params.id, 'rescheduled', told);
}

/** Cancels a scheduled email; the unit of quota goes back to the period it was taken from. */
export async function cancelEmail(
  { engine, testClocks }: SchedulingDeps,
  { caller, params, now }: Call<{ readonly id: string }>,
): Promise<EmailReceipt | Failure> {
  const clock = caller.livemode ? null : await testClocks()?.ofEmail(caller.workspaceId, params.id, false);
  if (clock instanceof Failure) return clock;
  const event = { type: 'cancel.requested', at: clock?.now ?? now } as const;
  return receiptOrFailure(
    params.id,
    'cancelled',
    await engine.tell('email', params.id, event, { scope: caller }),
  );
}

function receiptOrFailure(id: string, done: string, result: EventResultOf<'email'>): EmailReceipt | Failure {
  if (result.outcome === 'changed') return receiptOf(id, result.state, result.context);
  if (result.outcome === 'refused')
    return new Failure('CONFLICT', `This email is ${result.state}; only a scheduled one can be ${done}.`);
  return notFound('email');
}
