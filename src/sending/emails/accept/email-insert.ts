import type { EmailInput } from '../../../../machines/email/context.ts';
import type { OutcomeScript } from '../../../../machines/email/script.ts';
import { sendMeter } from '../../../accounts/usage/queries.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { ClaimOf } from '../../../engine/machine/result.ts';
import type { SpawnRequestOf } from '../../../engine/runtime/spawn-queue.ts';
import type { RecipientReports } from '../../../mail/message/asked-reports.ts';
import type { SubmittedEnvelope } from '../../../mail/submission/envelope.ts';
import { withoutRegion } from '../../../mail/transport/ses/ses-message-id.ts';
import type { GivenUp } from '../../../platform/async/deadline.ts';
import { type Address, isProblem, parseAddress } from '../../../platform/text/address.ts';
import type { StoredContent } from '../bodies/content-bodies.ts';
import type { StandingClock } from '../clocked/clock-of-email.ts';
import { SCRIPTED, simulatedOutcome } from '../simulator/simulated-addresses.ts';
import { type AttemptSchedule, SIMULATED_SCHEDULE, SLOW_SIMULATED_SCHEDULE } from './attempt-schedule.ts';
import {
  type FlowRecipient,
  type RenderedMarkdown,
  type SubmittedTraits,
  storedEnvelope,
  storedMessage,
} from './message.ts';
import type { EmailSender, SendingDomain } from './prepare.ts';
import type { SendRequest } from './request.ts';
import type { FilledRequest } from './templated.ts';

interface InsertDeps {
  readonly engine: Pick<Engine, 'hasRoom'>;
  readonly simulatorDomain: string;
  readonly liveSchedule: AttemptSchedule;
  readonly testSendsPerDay: number;
}

/** Octets of a message that stays in memory from its acceptance to its first attempt. */
const LARGEST_PAYLOAD = 65_536;
/** The data of an email besides its request. */
export interface Details {
  readonly id: string;
  readonly now: number;
  readonly domain: SendingDomain | null;
  readonly rendered: RenderedMarkdown | null;
  readonly filled: FilledRequest | null;
  readonly claim: ClaimOf<'email'> | undefined;
  readonly clock: StandingClock | null;
  readonly script: OutcomeScript | null;
  readonly flowRecipient: FlowRecipient | undefined;
  /** The thread that it continues. */
  readonly threadId: string | undefined;
  /** The envelope of one that was submitted by SMTP. */
  readonly submitted: SubmittedEnvelope | undefined;
}

const recipientsOf = ({ to, cc, bcc }: SendRequest): readonly Address[] =>
  cc.length + bcc.length === 0 ? to : [...to, ...cc, ...bcc];

/** The columns that a message fills, with its envelope and its content as they are. */
export const messageOf = (
  request: SendRequest,
  { id, domain, rendered, filled, flowRecipient, threadId, submitted }: Details,
) => ({
  recipients: recipientsOf(request).map(({ address }) => address),
  recipient_keys: recipientsOf(request).map(({ key }) => key),
  domain_id: domain?.id ?? null,
  template_id: filled?.templateId ?? null,
  ...storedMessage(
    id,
    request,
    rendered,
    filled?.used ?? null,
    flowRecipient,
    submitted && submittedOf(submitted, request),
    threadId,
  ),
});

/** The stored part of a submitted envelope; undefined when it asks for nothing. */
function submittedOf(
  { sender, returned, envelopeId, recipients }: SubmittedEnvelope,
  request: SendRequest,
): SubmittedTraits | undefined {
  const isPlain = recipients.every(({ notify, originalRecipient }) => !notify && !originalRecipient);
  if (sender !== null && returned === null && envelopeId === null && isPlain) return undefined;
  const asked = new Map(
    recipients.map((one): [string, RecipientReports] => {
      const read = parseAddress(one.address);
      return [isProblem(read) ? one.address : read.key, one];
    }),
  );
  return {
    sender,
    returned,
    envelopeId,
    recipients: recipientsOf(request).map(({ key }) => {
      const { notify = null, originalRecipient = null } = asked.get(key) ?? {};
      return { notify, originalRecipient };
    }),
  };
}

/** The columns by which the reports that are asked for are written down (../reports/reporter.ts). */
function reportsOf(submitted: SubmittedTraits | undefined, livemode: boolean, now: number) {
  const places = (submitted?.recipients ?? []).flatMap(({ notify }, place) =>
    notify?.some((one) => one !== 'DELAY') ? [place] : [],
  );
  const isAsked = livemode && submitted?.sender !== null && places.length > 0;
  return {
    reports_for: isAsked ? places.join(',') : null,
    reports_at: isAsked ? new Date(now).toISOString() : null,
  };
}

/**
 * The columns by which a reply finds a raw message. One that is forwarded has the Message-ID of its author,
 * whom a reply answers.
 */
const sentIdOf = ({ raw }: SendRequest, now: number) =>
  raw?.messageId && !raw.forward
    ? { sent_id: withoutRegion(raw.messageId), sent_id_at: new Date(now).toISOString() }
    : { sent_id: null, sent_id_at: null };

/** The order to the engine. */
export function spawnRequestOf(
  { engine, simulatorDomain, testSendsPerDay, liveSchedule }: InsertDeps,
  {
    sender,
    onBehalf,
    isGivenUp,
  }: {
    readonly sender: EmailSender;
    readonly onBehalf?: Readonly<Record<string, string>>;
    readonly isGivenUp?: GivenUp | undefined;
  },
  request: SendRequest,
  { id, now, claim, filled, clock, script }: Details,
  message: ReturnType<typeof messageOf>,
  { content, judged: byBodies }: StoredContent,
): SpawnRequestOf<'email'> {
  const { livemode } = sender;
  const recipients = recipientsOf(request).map((recipient) => ({
    simulate: livemode ? null : script ? SCRIPTED : simulatedOutcome(recipient, simulatorDomain),
  }));
  const isSlow =
    clock !== null ||
    (script ? script.outcome === 'deferred' : recipients.some(({ simulate }) => simulate === 'expired'));
  const input: EmailInput = {
    at: clock?.now ?? now,
    livemode,
    scheduledAt: request.scheduledAt,
    admitted: clock !== null || engine.hasRoom('email'),
    ...(livemode ? liveSchedule : isSlow ? SLOW_SIMULATED_SCHEDULE : SIMULATED_SCHEDULE),
    ...(clock && { testClockId: clock.id, acceptedAt: now }),
    ...(script && { script }),
    recipients,
  };
  const revision = filled?.rememberedRevision ?? null;
  const judged = revision === null ? null : { template_revision: revision };
  return {
    id,
    workspaceId: sender.workspaceId,
    livemode,
    input,
    columns: {
      ...message,
      envelope: storedEnvelope(id, message.envelope),
      content,
      ...reportsOf(message.envelope.submitted, sender.livemode, now),
      message_id: request.messageId?.id ?? null,
      message_id_at: request.messageId && new Date(now).toISOString(),
      ...sentIdOf(request, now),
      ...onBehalf,
      ...judged,
      caller_terms: sender.recollection?.terms ?? null,
      ...byBodies,
    },
    meter: sendMeter(livemode, sender.plan, testSendsPerDay, now),
    claim,
    isGivenUp,
    // Emails that wait for a slot must not fill the memory; a larger message is read when its attempt begins.
    ...(livemode && request.size <= LARGEST_PAYLOAD ? { payload: message } : {}),
    bytes: content.length + 1_024,
  };
}
