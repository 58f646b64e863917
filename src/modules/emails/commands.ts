import type { EmailContext, EmailInput } from '../../../machines/email-context.ts';
import type { Database } from '../../db/database.ts';
import { mintId, timeOfId } from '../../db/ids.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Birth } from '../../engine/nursery.ts';
import { storedReplyOf } from '../../engine/stored-replies.ts';
import type { Claim, Told } from '../../engine/told.ts';
import { Failure, invalid, notFound } from '../../http/failure.ts';
import { replayOf } from '../../http/idempotency.ts';
import type { Call, Caller, IdempotencyClaim, Replay } from '../../http/route.ts';
import { quotaExceeded, sendMeter } from '../usage/queries.ts';
import type { EmailReceipt } from './answer-model.ts';
import { type AttemptSchedule, SIMULATED_SCHEDULE } from './attempt-schedule.ts';
import { type RenderedMarkdown, storedMessage } from './message.ts';
import { readSendRequest, type SendRequest } from './request.ts';
import type { RescheduleBody, SendBody } from './request-model.ts';
import { readScheduledAt } from './scheduled-at.ts';
import { simulatedOutcome } from './simulated.ts';

/** A domain that may send now. */
export interface SendingDomain {
  readonly id: string;
}

/** What the commands for emails need. */
export interface EmailCommands {
  readonly engine: Engine;
  readonly database: Database;
  readonly simulatorDomain: string;
  /** How the attempts of live mail are timed. */
  readonly liveSchedule: AttemptSchedule;
  /** Test sends a day; 0 is no limit. */
  readonly testSendsPerDay: number;
  /** The verified domain of a workspace with that name (lower-case ASCII); null when there is none. */
  findSendingDomain(workspaceId: string, name: string): Promise<SendingDomain | null>;
  renderMarkdown(markdown: string, title: string): Promise<RenderedMarkdown | Failure>;
}

/** Accepts an email: once this answers a receipt, the email is durable and will reach an end of its life. */
export async function sendEmail(
  commands: EmailCommands,
  call: Call<unknown, unknown, SendBody>,
): Promise<EmailReceipt | Failure | Replay> {
  const { caller, body, claim, now } = call;
  const request = readSendRequest(body, { now, simulatorDomain: commands.simulatorDomain });
  if (request instanceof Failure) return refused(commands, call, request);
  if (request.template) return refused(commands, call, notFound('template'));
  const domain = caller.livemode
    ? await commands.findSendingDomain(caller.workspaceId, request.from.domain)
    : null;
  if (caller.livemode && !domain) return refused(commands, call, UNVERIFIED);
  const rendered =
    request.markdown === null ? null : await commands.renderMarkdown(request.markdown, request.subject ?? '');
  if (rendered instanceof Failure) return refused(commands, call, rendered);

  const id = mintId('em', now);
  const stored = claim && {
    ...claim,
    scope: caller,
    status: 202,
    reply: (state: string, context: unknown) => JSON.stringify(receiptOf(id, state, context as EmailContext)),
  };
  const birth = birthOf(commands, caller, request, { id, now, domain, rendered, claim: stored });
  const spawned = await commands.engine.spawn('email', birth);
  if (spawned.outcome === 'overQuota') return quotaExceeded(caller.livemode);
  if (spawned.outcome === 'replayed')
    return replayOf(claim as IdempotencyClaim, spawned, () => JSON.parse(spawned.reply));
  return receiptOf(id, spawned.state, spawned.context as EmailContext);
}

/**
 * What was right when it was asked for may be refused by now: its time has passed, its domain is verified no more. The stored
 * reply of its key counts more; it is looked for only here, so that what is accepted pays nothing for it.
 */
async function refused(
  { database }: EmailCommands,
  { caller, claim, now }: Pick<Call, 'caller' | 'claim' | 'now'>,
  refusal: Failure,
): Promise<Failure | Replay> {
  const stored = claim && (await storedReplyOf(database, { key: claim.key, scope: caller }, now));
  return stored ? replayOf(claim, stored, () => JSON.parse(stored.reply)) : refusal;
}

/** Moves a scheduled email to another time. */
export async function rescheduleEmail(
  { engine }: EmailCommands,
  { caller, params, body, now }: Call<{ readonly id: string }, unknown, RescheduleBody>,
): Promise<EmailReceipt | Failure> {
  const scheduledAt = readScheduledAt(body.scheduledAt, now);
  if (typeof scheduledAt !== 'number')
    return invalid([{ path: '/body/scheduledAt', message: scheduledAt.problem }]);
  const event = { type: 'reschedule.requested', at: now, scheduledAt };
  return receiptOrFailure(
    params.id,
    'rescheduled',
    await engine.tell('email', params.id, event, { scope: caller }),
  );
}

/** Cancels a scheduled email; the unit of quota goes back within the same period. */
export async function cancelEmail(
  { engine }: EmailCommands,
  { caller, params, now }: Call<{ readonly id: string }>,
): Promise<EmailReceipt | Failure> {
  const event = { type: 'cancel.requested', at: now };
  return receiptOrFailure(
    params.id,
    'cancelled',
    await engine.tell('email', params.id, event, { scope: caller }),
  );
}

const UNVERIFIED = new Failure('FORBIDDEN', 'The domain of the sender is not verified in this workspace.', {
  suggestion:
    'Add the domain of the from address with POST /v1/domains, set its DNS records and verify it; or use a test key, which accepts any sender.',
});

function receiptOrFailure(id: string, done: string, told: Told): EmailReceipt | Failure {
  if (told.outcome === 'changed') return receiptOf(id, told.state, told.context as EmailContext);
  if (told.outcome === 'refused')
    return new Failure('CONFLICT', `This email is ${told.state}; only a scheduled one can be ${done}.`);
  return notFound('email');
}

const receiptOf = (id: string, status: string, { livemode, scheduledAt }: EmailContext): EmailReceipt => ({
  id,
  livemode,
  status: status as EmailReceipt['status'],
  scheduledAt: scheduledAt === null ? null : new Date(scheduledAt).toISOString(),
  createdAt: new Date(timeOfId(id)).toISOString(),
});

/** Octets of a message that is kept at hand from its acceptance to its first attempt. */
const LARGEST_PAYLOAD = 65_536;

interface Particulars {
  readonly id: string;
  readonly now: number;
  readonly domain: SendingDomain | null;
  readonly rendered: RenderedMarkdown | null;
  readonly claim: Claim | null;
}

function birthOf(
  { engine, simulatorDomain, testSendsPerDay, liveSchedule }: EmailCommands,
  caller: Caller,
  request: SendRequest,
  { id, now, domain, rendered, claim }: Particulars,
): Birth {
  const recipients = [...request.to, ...request.cc, ...request.bcc];
  const { livemode } = caller;
  const input: EmailInput = {
    at: now,
    livemode,
    scheduledAt: request.scheduledAt,
    admitted: engine.hasRoom('email'),
    ...(livemode ? liveSchedule : SIMULATED_SCHEDULE),
    recipients: recipients.map((recipient) => ({
      simulate: livemode ? null : simulatedOutcome(recipient, simulatorDomain),
    })),
  };
  const columns = {
    recipients: recipients.map(({ address }) => address),
    recipient_keys: recipients.map(({ key }) => key),
    domain_id: domain?.id ?? null,
    ...storedMessage(id, request, rendered),
  };
  return {
    id,
    workspaceId: caller.workspaceId,
    livemode,
    input,
    columns,
    meter: sendMeter(livemode, caller.plan, testSendsPerDay, now),
    claim: claim ?? undefined,
    // What waits for a slot must not fill the memory; a larger one is read when its turn comes.
    ...(livemode && request.size <= LARGEST_PAYLOAD ? { payload: columns } : {}),
    bytes: request.size + 1_024,
  };
}
