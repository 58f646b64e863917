import type { FlowRunContext } from '../../../../machines/flow-run/context.ts';
import type { FlowStep, StepConfigs } from '../../../../machines/flow-run/definition.ts';
import { joinAudience, leaveAudience } from '../../../audience/audiences/commands.ts';
import { findAudienceRow } from '../../../audience/audiences/queries.ts';
import { type ChangeDeps, changeContact } from '../../../audience/contacts/commands.ts';
import type { Scope } from '../../../audience/contacts/queries.ts';
import { preferencesPath } from '../../../audience/preferences/queries.ts';
import { Replay } from '../../../http/request/route.ts';
import type { Sealer } from '../../../platform/crypto/sealer.ts';
import type { Database } from '../../../platform/db/database.ts';
import { Failure } from '../../../platform/errors/failure.ts';
import { UnavailableError } from '../../../platform/errors/unavailable.ts';
import { type ContactTexts, fieldsOf } from '../../../platform/text/contact-fields.ts';
import { languageIn } from '../../../platform/text/language.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import { type AcceptanceDeps, acceptEmail, WITHHELD } from '../../../sending/emails/accept.ts';
import type { StandingClock } from '../../../sending/emails/commands.ts';
import { isSuccess, type WebhookPosting } from '../../../sending/webhooks/commands.ts';
import { whoMatches } from '../definition/filters.ts';
import { secretOf } from '../definition/secret.ts';
import type { RunRow } from './run-reader.ts';

/** The services that steps call. */
export interface StepWorkDeps extends ChangeDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** This service's own address, without a slash at its end. */
  readonly publicUrl: string;
  acceptance(): AcceptanceDeps;
  posting(): WebhookPosting;
}

/** The time of a run: the service's, or that of its test clock, which shows this time during the step. */
export interface StepTime {
  now(): number;
  readonly clock: StandingClock | null;
}

/** One visit to a step. */
export interface StepWork {
  readonly runId: string;
  readonly visit: number;
  readonly scope: Scope;
  readonly row: RunRow;
  readonly context: FlowRunContext;
  /** Epoch milliseconds, by its own time. */
  readonly now: number;
  readonly time: StepTime;
  /** True of a run that a reply of the contact began. */
  readonly answersReply: boolean;
}

/** The result of a step: the edge that it leaves by, and the words in the log. */
export interface StepResult {
  readonly way?: string;
  readonly outcome: string;
  readonly emailId?: string;
}

/** It could not be done now, and is tried again. */
export const LATER = 'later';

type Work<Type extends keyof StepConfigs> = (
  config: StepConfigs[Type],
  deps: StepWorkDeps,
  work: StepWork,
) => Promise<StepResult | typeof LATER>;

/** Does a step of a run. @throws UnavailableError: it is done again when its lease has ended */
export const workOf = (
  step: FlowStep,
  deps: StepWorkDeps,
  work: StepWork,
): Promise<StepResult | typeof LATER> => {
  const does = WORK[step.type] as Work<typeof step.type> | undefined;
  if (!does) throw new Error(`A step ${step.type} has nothing to do.`);
  return does(step.config as never, deps, work);
};

/** Stored with every change by a run, so that chains of flows that begin one another end. */
const noted = ({ runId, context }: StepWork): object => ({ runId, depth: context.depth + 1 });

/** The least time for which the reply of a sent email is remembered; a step that took longer is in doubt. */
const REMEMBERED_MS = 23 * 3_600_000;

/** RFC 3834 5: programs do not answer mail of a program that answers. */
const ANSWERS = { 'Auto-Submitted': 'auto-replied' };

const sendEmail: Work<'sendEmail'> = async (
  { templateId, variables, from, subject, language },
  deps,
  work,
) => {
  const { row, scope, context, now, time, answersReply } = work;
  if (row.act !== null) return { outcome: `skipped: ${row.act}` };
  if (context.attempt > 1 && now - context.since > REMEMBERED_MS) return { outcome: 'skipped: in_doubt' };
  const sent = await acceptEmail(deps.acceptance(), {
    sender: {
      ...scope,
      plan: row.plan,
      senderDefaults: { from: row.default_from, replyTo: row.default_reply_to },
    },
    body: {
      to: row.email ?? '',
      templateId,
      ...(variables && { variables: { ...variables } }),
      ...(from !== undefined && { from }),
      ...(subject !== undefined && { subject }),
      ...(language !== undefined && { language }),
      ...(answersReply && { headers: ANSWERS }),
    },
    // No client can choose this key: theirs have no spaces.
    claim: { key: `flow ${work.runId} ${work.visit}`, fingerprint: `${work.runId} ${work.visit}` },
    onBehalf: { flow_run_id: work.runId, flow_contact_id: row.contact_id },
    flowRecipient: { contactId: row.contact_id, audienceId: row.audience_id ?? undefined },
    circumstances: {
      contact: contactOf(row),
      event: row.event ?? {},
      preferencesUrl:
        deps.publicUrl +
        preferencesPath(deps.signer, {
          ...scope,
          key: row.email_key ?? '',
          language: language ?? languageIn(row.properties.language),
        }),
    },
    now: deps.clock.now(),
    clock: time.clock,
    at: '',
  });
  if (sent === WITHHELD) return { outcome: 'skipped: ended' };
  if (sent instanceof Failure) return refused(sent);
  const { id } = (sent instanceof Replay ? sent.body : sent) as { readonly id: string };
  return { outcome: 'sent', emailId: id };
};

/** The members of a contact that a template may use. */
export const contactOf = (
  contact: ContactTexts & Pick<RunRow, 'email' | 'properties'>,
): Readonly<Record<string, unknown>> => ({
  email: contact.email,
  ...fieldsOf(contact),
  properties: contact.properties,
});

/** A refusal that waiting does not mend is recorded, and the run continues without the email. */
function refused({ code, message, extra }: Failure): StepResult | typeof LATER {
  if (code === 'SERVICE_UNAVAILABLE') return LATER;
  if (code === 'QUOTA_EXCEEDED') return { outcome: 'skipped: quota_exceeded' };
  const [first] = extra.details ?? [];
  return { outcome: `skipped: ${(first ? first.message : message).slice(0, 200)}` };
}

const holds = async (filter: unknown, deps: StepWorkDeps, work: StepWork): Promise<boolean> => {
  const asked = [{ contactId: work.row.contact_id, eventId: work.context.occurrence }];
  const [matches = false] = await whoMatches(deps.database, work.scope, filter, asked, work.now);
  return matches;
};

const condition: Work<'condition'> = async ({ filter }, deps, work) => {
  const way = (await holds(filter, deps, work)) ? 'met' : 'notMet';
  return { way, outcome: way };
};

const branch: Work<'branch'> = async ({ branches }, deps, work) => {
  for (const { key, filter } of branches)
    if (await holds(filter, deps, work)) return { way: key, outcome: key };
  return { way: 'default', outcome: 'default' };
};

const updateContact: Work<'updateContact'> = async (config, deps, { scope, row }) => {
  const now = deps.clock.now();
  const contact = { id: row.contact_id, email: row.email ?? '' };
  const outcome = await changeContact(deps, scope, contact, config, now);
  return { outcome: outcome === 'full' ? 'skipped: too_many_properties' : 'updated' };
};

const addToAudience: Work<'addToAudience'> = async ({ audienceId }, { database, clock }, work) => {
  const { scope, row } = work;
  const now = clock.now();
  const audience = await findAudienceRow({ database }, scope, audienceId);
  if (audience?.type !== 'static' || audience.confirm) return { outcome: 'skipped: not_possible' };
  const joining = { ...scope, audienceId, contactId: row.contact_id, now, onlyPending: false };
  const joined = await joinAudience(database, { ...joining, unlessLeft: true, data: noted(work) });
  if (joined === null) return { outcome: 'skipped: not_possible' };
  return { outcome: joined === 'hasLeft' ? 'skipped: has_left' : 'added' };
};

const removeFromAudience: Work<'removeFromAudience'> = async ({ audienceId }, { database, clock }, work) => {
  const { scope, row } = work;
  const now = clock.now();
  const audience = await findAudienceRow({ database }, scope, audienceId);
  if (audience?.type !== 'static') return { outcome: 'skipped: not_possible' };
  const leaving = { ...scope, audienceId, contactId: row.contact_id, now };
  await leaveAudience(database, { ...leaving, data: noted(work) });
  return { outcome: 'removed' };
};

/** Receivers could not tell that it is ours. */
const SECRET_SEALED: StepResult = {
  outcome: 'failed: the webhook secret was sealed with a replaced key; rotate it',
};

/** Posts the contact, the run and the step. Receivers recognise a repetition by its id. */
const webhook: Work<'webhook'> = async ({ url }, deps, work) => {
  const { row, scope, runId, visit, context } = work;
  const secret = await secretOf(deps, scope, deps.clock.now());
  if (secret === null) return SECRET_SEALED;
  const body = JSON.stringify({
    id: `${runId}.${visit}`,
    type: 'flow.step',
    livemode: scope.livemode,
    flowId: row.flow_id,
    runId,
    step: context.step,
    occurredAt: new Date(context.since).toISOString(),
    contact: { id: row.contact_id, ...contactOf(row) },
    event: row.event,
  });
  try {
    const result = await deps.posting().post({ webhookId: row.flow_id, url, secret, body });
    return isSuccess(result) ? { outcome: 'posted' } : LATER;
  } catch (error) {
    if (error instanceof UnavailableError) return LATER;
    throw error;
  }
};

const WORK: { readonly [Type in keyof StepConfigs]?: Work<Type> } = {
  sendEmail,
  condition,
  branch,
  updateContact,
  addToAudience,
  removeFromAudience,
  webhook,
};
