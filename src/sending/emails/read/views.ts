import type { EmailContext } from '../../../../machines/email/context.ts';
import { timeOfId } from '../../../platform/db/ids.ts';
import { isoOf } from '../../../platform/db/wire/values.ts';
import { formatAddress } from '../../../platform/text/address.ts';
import { withShownLinks } from '../../tracking/api.ts';
import { type Content, type Envelope, wholeEnvelope } from '../accept/message.ts';
import type { EmailDetail, EmailItem } from './answer-model.ts';
import type { EmailEvent } from './event-model.ts';
import type { EmailItemRow } from './item-statements.ts';

/** The same with the progress of each recipient. */
export interface EmailRow extends EmailItemRow {
  /**
   * Members that no column holds: the others are not in what is stored of the context
   * (engine/lean-context.ts).
   */
  readonly context: Pick<EmailContext, 'recipients' | 'testClockId'>;
}

export interface EventRow {
  readonly id: string;
  readonly emailId: string;
  readonly livemode: boolean;
  readonly type: string;
  readonly recipient: string;
  readonly occurredAt: Date;
  readonly data: unknown;
}

/** The item of an email in a list. */
export function itemOf(row: EmailItemRow): EmailItem {
  const envelope = wholeEnvelope(row.id, row.envelope);
  return {
    id: row.id,
    livemode: row.livemode,
    from: formatAddress(envelope.from),
    to: envelope.to.map(formatAddress),
    cc: envelope.cc.map(formatAddress),
    bcc: envelope.bcc.map(formatAddress),
    replyTo: envelope.replyTo.map(formatAddress),
    subject: row.livemode ? withShownLinks(row.subject) : row.subject,
    tags: envelope.tags.map(({ name, value }) => ({ name, value })),
    status: row.state as EmailItem['status'],
    lastEvent: row.last_event as EmailItem['lastEvent'],
    failureReason: row.failure_reason as EmailItem['failureReason'],
    messageId: envelope.messageId,
    domainId: row.domain_id,
    templateId: row.template_id,
    campaignId: row.campaign_id,
    language: envelope.language ?? null,
    scheduledAt: isoOf(row.scheduled_at),
    createdAt: new Date(timeOfId(row.id)).toISOString(),
    sentAt: isoOf(row.sent_at),
    deliveredAt: isoOf(row.delivered_at),
  };
}

/** An email with its content, recipients and events. `text` is the text part as it is sent. */
export function detailOf(
  row: EmailRow,
  content: Content,
  text: string | null,
  events: readonly EmailEvent[],
): EmailDetail {
  const envelope = wholeEnvelope(row.id, row.envelope);
  const raw = content.raw?.index;
  return {
    ...itemOf(row),
    text,
    html: content.html,
    markdown: content.markdown,
    templateVersion: content.template?.version ?? null,
    variables: content.template ? { ...content.template.variables } : null,
    testClockId: row.context.testClockId ?? null,
    headers: Object.fromEntries((raw ?? envelope).headers.map(({ name, value }) => [name, value])),
    attachments: (raw ?? envelope).attachments.map(({ filename, contentType, size }) => ({
      filename,
      contentType,
      size,
    })),
    calendar: content.calendar ?? null,
    recipients: recipientsOf(envelope, row.context),
    events: [...events],
  };
}

/** Joins addresses with progress. The context holds progress by index over to, then cc, then bcc. */
function recipientsOf(envelope: Envelope, { recipients }: EmailRow['context']): EmailDetail['recipients'] {
  const named = (['to', 'cc', 'bcc'] as const).flatMap((kind) =>
    envelope[kind].map(({ address }) => ({ address, kind })),
  );
  return named.map(({ address, kind }, index) => ({
    address,
    kind,
    status: recipients[index]?.status ?? 'pending',
    lastEvent: recipients[index]?.lastEvent ?? null,
  }));
}

/** The view of an event, the same object everywhere. */
export const eventOf = (row: EventRow): EmailEvent =>
  // The machine wrote type and data together, so the row is one of the forms.
  ({
    id: row.id,
    type: row.type,
    emailId: row.emailId,
    recipient: row.recipient,
    occurredAt: row.occurredAt.toISOString(),
    data: row.data,
    livemode: row.livemode,
  }) as EmailEvent;
