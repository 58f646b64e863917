import type { ReceivedContext } from '../../../machines/received/context.ts';
import type { ReceivedState } from '../../../machines/received/machine.ts';
import { decidedFor } from '../../engine/machine/kind.ts';
import type { ArcChain } from '../../mail/raw/raw-mail.ts';
import { timeOfId } from '../../platform/db/ids.ts';
import { isoOf } from '../../platform/time/clock.ts';
import { stateOfSql } from '../emails/queries.ts';
import { NO_ROUTE } from '../inbound-routes/queries.ts';
import type { ReceivedParts } from './contents.ts';
import type { ReceivedItem, ReceivedMessage } from './model.ts';
import type { ReceivedSummary } from './summary.ts';

/** The results of the checks at arrival, with all that a forwarded message states of them. */
export interface StoredAuthentication extends NonNullable<ReceivedItem['authentication']> {
  readonly forward?: {
    /** In the form of Authentication-Results (RFC 8601), which the seal holds. */
    readonly results: string;
    /** Null where it could not be checked. */
    readonly chain: ArcChain | null;
    readonly helo: string | null;
    readonly client: string;
    /** Absent in messages that an earlier version stored, and in those that came by no port. */
    readonly protocol?: string;
    readonly tls?: string | null;
  };
}

/** The row of a received message. */
export interface ReceivedRow {
  readonly id: string;
  readonly livemode: boolean;
  readonly state: string;
  /** True of a forwarded message that none of its targets could take. */
  readonly hasFailedForward: boolean;
  readonly context: ReceivedContext;
  readonly routeId: string;
  readonly contentId: string;
  readonly envelopeFrom: string;
  readonly recipient: string;
  readonly tag: string | null;
  readonly threadId: string;
  readonly emailId: string | null;
  readonly contactId: string | null;
  readonly campaignId: string | null;
  readonly flowRunId: string | null;
  readonly isAutomatic: boolean;
  readonly summary: ReceivedSummary;
  readonly authentication: StoredAuthentication | null;
  readonly spam: ReceivedItem['spam'];
  readonly size: number;
  /** Epoch milliseconds of its next timer; null where it waits for none. */
  readonly wakeAt: number | null;
}

/** The columns of such a row of the table `r`. */
export const RECEIVED_COLUMNS = `r.id, r.livemode, r.state, case when r.state = 'forwarded'
    then coalesce(${stateOfSql("(r.context ->> 'forwardedAs')", 'r.workspace_id')} = 'failed', false) else false end as "hasFailedForward", r.context, r.route_id as "routeId", r.content_id as "contentId",
  r.envelope_from as "envelopeFrom", r.recipient, r.tag, r.thread_id as "threadId", r.email_id as "emailId",
  r.contact_id as "contactId", r.campaign_id as "campaignId", r.flow_run_id as "flowRunId", r.is_automatic as "isAutomatic", r.summary, r.authentication, r.spam, r.size,
  (extract(epoch from r.wake_at) * 1000)::float8 as "wakeAt"`;

/** The status of each state, as clients see it. */
const STATUS_OF: Readonly<Record<ReceivedState, ReceivedItem['status']>> = {
  stored: 'stored',
  posting: 'posting',
  retrying: 'posting',
  posted: 'posted',
  forwarded: 'forwarded',
  kept: 'kept',
  failed: 'failed',
};

const repliedTo = ({
  emailId,
  contactId,
  campaignId,
  flowRunId,
}: ReceivedRow): ReceivedItem['inReplyToEmail'] =>
  emailId === null ? null : { emailId, contactId, campaignId, flowRunId };

/** A message as lists show it. */
export function itemOf(row: ReceivedRow): ReceivedItem {
  const { from, to, cc, replyTo, subject, date, messageId, inReplyTo } = row.summary;
  return {
    id: row.id,
    livemode: row.livemode,
    routeId: row.routeId === NO_ROUTE ? null : row.routeId,
    status: row.hasFailedForward ? 'failed' : decidedFor(STATUS_OF, row.state),
    envelope: { from: row.envelopeFrom, to: row.recipient, tag: row.tag },
    from,
    to: [...to],
    cc: [...cc],
    replyTo: [...replyTo],
    subject,
    date,
    messageId,
    inReplyTo,
    authentication: row.authentication && {
      spf: row.authentication.spf,
      dkim: row.authentication.dkim,
      dmarc: row.authentication.dmarc,
    },
    spam: row.spam,
    isAutomatic: row.isAutomatic,
    inReplyToEmail: repliedTo(row),
    threadId: row.threadId,
    size: row.size,
    createdAt: isoOf(timeOfId(row.id)),
  };
}

/** A message with its content, as its webhook gets it. */
export const messageOf = (row: ReceivedRow, parts: ReceivedParts): ReceivedMessage => ({
  ...itemOf(parts.summary ? { ...row, summary: parts.summary } : row),
  references: [...parts.references],
  text: parts.text,
  html: parts.html,
  replyText: parts.replyText,
  headers: [...parts.headers],
  attachments: parts.attachments.map(({ filename, contentType, size, contentId }, index) => ({
    index,
    filename,
    contentType,
    size,
    contentId,
  })),
});

/** The parts of a message whose content is gone. */
export const NO_PARTS: ReceivedParts = {
  references: [],
  text: null,
  html: null,
  replyText: null,
  headers: [],
  attachments: [],
};

/** The id of the event that a webhook gets: the same at every attempt and redelivery. */
const eventIdOf = (id: string): string => `evt_${id.slice('rcv_'.length)}`;

/** The JSON that is posted to the webhook of a route, the same bytes at every attempt. */
export function payloadOf(row: ReceivedRow, parts: ReceivedParts): string {
  const message = messageOf(row, parts);
  return JSON.stringify({
    id: eventIdOf(row.id),
    type: 'received',
    // Its status changes from attempt to attempt.
    received: { ...message, status: 'posting' },
    livemode: row.livemode,
    occurredAt: message.createdAt,
  });
}
