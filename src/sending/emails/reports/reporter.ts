import type { RecipientProgress } from '../../../../machines/email/recipient.ts';
import type { Duty } from '../../../engine/duties/duty.ts';
import type { InsertRule } from '../../../http/module.ts';
import { compose } from '../../../mail/compose/compose.ts';
import { domainOf } from '../../../mail/compose/envelope.ts';
import { composeReport, type StatusReport } from '../../../mail/compose/status-report.ts';
import { endOfHeader } from '../../../mail/raw/header-editor.ts';
import { leaves } from '../../../mail/transport/traits.ts';
import type { OutboundMessage, Transport } from '../../../mail/transport/transport.ts';
import type { Database } from '../../../platform/db/database.ts';
import { timeOfId } from '../../../platform/db/ids.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import { isProblem, parseAddress } from '../../../platform/text/address.ts';
import { type Clock, DAY_MS } from '../../../platform/time/clock.ts';
import type { SendingDomain } from '../accept/prepare.ts';
import { EVENTS_OF_TURN, HAS_EVENTS } from '../read/recorded-events.ts';
import { outboundMessage, type Personalise, type Sender } from '../send/message.ts';
import type { LiveMessage, LiveReader } from '../send/reader.ts';
import type { Senders } from '../transports/senders.ts';
import { type News, newsOf, type ReportedEvent } from './news.ts';

/** The services that reports are sent with. */
export interface ReporterParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly reader: LiveReader;
  readonly senders: Senders;
  readonly personalise: Personalise;
  /** The transport of that name, or the default one. */
  transport(name: Transport['name'] | null): Transport;
  findSendingDomain(workspaceId: string, name: string): Promise<SendingDomain | null>;
  /** The name of this service as a mail server. */
  readonly hostName: string;
}

const IS_ASKED = 'reports_for is not null';

/** Writes, together with an email, the places of the recipients that reports are asked for about. */
export const reportInsertRule: InsertRule = {
  of: 'email',
  columns: 'reports_for text, reports_at timestamptz',
  conditions: [],
  writes: [
    (admitted) => `insert into report_requests (workspace_id, email_id, recipient, asked_at, next_at)
  select a.workspace_id, a.id, r.recipient, a.reports_at, a.reports_at from ${admitted} a
    cross join lateral unnest(string_to_array(a.reports_for, ',')::integer[]) r(recipient) where a.${IS_ASKED}`,
  ],
};

/** A later report of a server may come so long after the email; what is asked for after it is forgotten. */
const LASTS_MS = 14 * DAY_MS;
const AT_ONCE = 10;
const PATIENCE_MS = 30_000;
/** A claim lasts until all that came with it have had their time. */
const LEASE_S = (AT_ONCE * PATIENCE_MS) / 1_000;
/** The octets of a message that a report returns whole; of a larger one it returns the header. */
export const LARGEST_RETURNED = 1_048_576;

/**
 * Workspaces, and requests of each, that one claim looks at: several instances claim at once, and each passes
 * over what others hold.
 */
const CANDIDATES = 4 * AT_ONCE;

/**
 * Claims what is due until all that is claimed with it has had its time: no other instance looks at what is
 * being sent. Workspaces take turns: of one that has asked for many, the second comes after the first of
 * every other one. Each step of `owners` is one look into an index, so that a claim costs as much as there
 * are workspaces, however many requests are due.
 */
const CLAIM = `with recursive owners as (
  (select workspace_id from report_requests
  where exists (select 1 from report_requests where next_at <= $1::text::timestamptz)
  order by workspace_id limit 1)
  union all
  select (select n.workspace_id from report_requests n where n.workspace_id > o.workspace_id order by n.workspace_id limit 1)
  from owners o where o.workspace_id is not null
), candidates as materialized (
  select d.email_id, d.recipient, d.next_at, row_number() over (partition by w.workspace_id order by d.next_at) as turn
  from (
    select o.workspace_id from owners o cross join lateral (
      select f.next_at from report_requests f
      where f.workspace_id = o.workspace_id and f.next_at <= $1::text::timestamptz order by f.next_at limit 1
    ) oldest order by oldest.next_at limit ${CANDIDATES}
  ) w cross join lateral (
    select r.email_id, r.recipient, r.next_at from report_requests r
    where r.workspace_id = w.workspace_id and r.next_at <= $1::text::timestamptz order by r.next_at limit ${CANDIDATES}
  ) d
)
update report_requests r set attempts = r.attempts + 1,
  next_at = $1::text::timestamptz + ${LEASE_S} * interval '1 second'
from (
  select d.email_id, d.recipient from candidates c
  join report_requests d on d.email_id = c.email_id and d.recipient = c.recipient
  where d.next_at <= $1::text::timestamptz order by c.turn, c.next_at limit ${AT_ONCE} for update of d skip locked
) due where r.email_id = due.email_id and r.recipient = due.recipient
returning r.workspace_id as "workspaceId", r.email_id as "emailId", r.recipient, r.is_success_told as "isSuccessTold",
  (extract(epoch from r.asked_at) * 1000)::float8 as "askedAt"`;

/** Each look waits twice as long as the one before, up to an hour. */
const LATER = `update report_requests set
  next_at = $3::text::timestamptz + least(power(2, least(attempts - 1, 12)) * 5, 3600) * interval '1 second'
where email_id = $1 and recipient = $2::integer`;
/** Gives back what was claimed and not looked at. */
const UNTRIED = `update report_requests set attempts = attempts - 1, next_at = $3::text::timestamptz
where email_id = $1 and recipient = $2::integer`;
const DONE = 'delete from report_requests where email_id = $1 and recipient = $2::integer';
const TOLD =
  'update report_requests set is_success_told = true where email_id = $1 and recipient = $2::integer';

const PROGRESS = `select n.context -> 'recipients' -> $3::integer as progress, (
  select coalesce(json_agg(json_build_object('type', e.type, 'data', e.data) order by t.position), '[]')
  from email_turns t cross join lateral ${EVENTS_OF_TURN}
  where t.email_id = $1 and t.workspace_id = $2 and ${HAS_EVENTS} and e.recipient = $3::integer
    and e.type in ('sent', 'delivered', 'bounced')
) as events from emails_now n where n.id = $1 and n.workspace_id = $2`;

interface Request {
  readonly workspaceId: string;
  readonly emailId: string;
  readonly recipient: number;
  readonly isSuccessTold: boolean;
  readonly askedAt: number;
}

/** Sends the reports that SMTP clients have asked for, as soon as there is something to tell. */
export const reportSender = (parts: ReporterParts): Duty => ({
  name: 'reportSender',
  pattern: '*/3 * * * * *',
  asks: (now) => `exists (select from report_requests where next_at <= ${now})`,
  async run(stop) {
    for (;;) {
      const now = new Date(parts.clock.now()).toISOString();
      const due = await parts.database.query<Request>(CLAIM, [now]);
      const byWorkspace = Map.groupBy(due, ({ workspaceId }) => workspaceId);
      // All end before this one does: after a stop, nothing may use the database.
      const ends = await Promise.allSettled(
        [...byWorkspace.values()].map((requests) => lookAtAll(parts, requests, stop)),
      );
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
      // Fewer than a claim may take can be due to another instance, which holds some for a moment.
      if (stop?.aborted || due.length === 0) return;
    }
  },
});

/**
 * Looks at the requests of one workspace, one after the other. A server that does not answer takes their time
 * once: what is left then, or at a stop, is given back, and those of other workspaces are claimed with it.
 */
async function lookAtAll(
  parts: ReporterParts,
  requests: readonly Request[],
  stop: AbortSignal | undefined,
): Promise<void> {
  const begun = parts.clock.monotonic();
  for (const one of requests) {
    const isUntried = stop?.aborted || parts.clock.monotonic() - begun >= PATIENCE_MS;
    const isOver = !isUntried && (await look(parts, one).catch(unsent(parts, one)));
    const at = new Date(parts.clock.now()).toISOString();
    if (!isOver) await parts.database.query(isUntried ? UNTRIED : LATER, [one.emailId, one.recipient, at]);
  }
}

const unsent =
  ({ logger }: ReporterParts, { emailId }: Request) =>
  (error: unknown): false => {
    logger.warn({ err: error, email: emailId }, 'A report could not be sent; it is tried again.');
    return false;
  };

/** Tells what there is to tell; false where it has to look again. */
async function look(parts: ReporterParts, request: Request): Promise<boolean> {
  const { database, clock, reader } = parts;
  const { workspaceId, emailId, recipient, isSuccessTold, askedAt } = request;
  const end = async () => {
    await database.query(DONE, [emailId, recipient]);
    return true;
  };
  const found = await reader.message({ id: emailId, workspaceId });
  const { sender: to = null, recipients = [] } = found?.envelope.submitted ?? {};
  const notify = recipients[recipient]?.notify ?? [];
  const [row] = await database.query<{
    progress: RecipientProgress | null;
    events: readonly ReportedEvent[];
  }>(PROGRESS, [emailId, workspaceId, recipient]);
  if (!found || to === null || !row?.progress || clock.now() - askedAt > LASTS_MS) return end();
  const news = newsOf(row.progress, row.events, notify, isSuccessTold);
  if (news === null) return false;
  if (news === 'ended') return end();
  const content = found.content ?? (await reader.content({ id: emailId, workspaceId }));
  const isSent = content === null || (await tell(parts, request, { ...found, content }, to, news));
  if (!isSent) return false;
  const mayFailYet = news.action !== 'failed' && notify.includes('FAILURE');
  if (!mayFailYet) return end();
  await database.query(TOLD, [emailId, recipient]);
  return false;
}

/**
 * Sends a report; false when it needs another try. An address at a foreign domain gets none, since any client
 * can name it as the sender.
 */
async function tell(
  parts: ReporterParts,
  { workspaceId, emailId, recipient }: Request,
  message: LiveMessage,
  to: string,
  news: News,
): Promise<boolean> {
  const address = parseAddress(to);
  if (isProblem(address) || !(await parts.findSendingDomain(workspaceId, address.domain))) return true;
  const sender = message.domain_id === null ? 'removed' : await parts.senders.find(message.domain_id);
  if (typeof sender === 'string') return sender === 'removed';
  const by = parts.transport(sender.provider);
  if (!leaves(by.name)) return true;
  const report = await reportOf(parts, { emailId, recipient, workspaceId }, message, sender, to, news);
  const outbound: OutboundMessage = {
    emailId,
    attempt: 1,
    cc: [],
    bcc: [],
    replyTo: [],
    headers: [],
    attachments: [],
    unsubscribe: null,
    from: { name: null, address: `MAILER-DAEMON@${report.domain}` },
    subject: '',
    text: null,
    html: null,
    to: [{ name: null, address: to }],
    recipients: [to],
    dkim: sender.dkim,
    date: report.date,
    messageId: `<report.${report.id}@${report.domain}>`,
    // RFC 3461 6.1: a report has the null sender, so that none is ever sent about it.
    returnPath: '',
    written: { composed: composeReport(report), signatures: null },
  };
  const limits = { signal: AbortSignal.timeout(PATIENCE_MS), deadlineMs: PATIENCE_MS };
  const [sent] = await by.send(outbound, limits);
  return sent?.outcome !== undefined && sent.outcome !== 'deferred';
}

async function reportOf(
  { personalise, hostName, clock }: ReporterParts,
  { emailId, recipient, workspaceId }: Pick<Request, 'emailId' | 'recipient' | 'workspaceId'>,
  message: LiveMessage,
  sender: Sender,
  to: string,
  news: News,
): Promise<StatusReport> {
  const { envelope, recipients } = message;
  const { submitted, from } = envelope;
  const address = recipients[recipient] ?? '';
  const arrivedAt = timeOfId(emailId);
  const destination = { emailId, recipient };
  const copy = { destination, workspaceId, address, attempt: 1, date: arrivedAt, token: 'report' };
  const octets = await compose(outboundMessage(message, copy, sender, personalise));
  // RFC 3461 4.3: RET is about failures; of what went well the header is enough.
  const isWhole =
    news.action === 'failed' && submitted?.returned === 'FULL' && octets.length <= LARGEST_RETURNED;
  return {
    ...news,
    id: `${emailId}.${recipient}.${news.action}`,
    domain: domainOf(from.address),
    to,
    date: clock.now(),
    arrivedAt,
    reportingMta: hostName,
    recipient: address,
    envelopeId: submitted?.envelopeId ?? null,
    originalRecipient: submitted?.recipients[recipient]?.originalRecipient ?? null,
    returned: { isWhole, octets: isWhole ? octets : headerOf(octets) },
  };
}

const headerOf = (octets: Buffer): Buffer => octets.subarray(0, endOfHeader(octets));
