import { bigint, boolean, customType, json, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { actorColumns, moment } from './actor.ts';

/** The emails, which are actors: the state of each. */
export const emails = pgTable('emails', {
  ...actorColumns,
  recipients: text('recipients').array().notNull(),
  recipientKeys: text('recipient_keys').array().notNull(),
  campaignId: text('campaign_id'),
  lastEvent: text('last_event'),
  failureReason: text('failure_reason'),
  scheduledAt: moment('scheduled_at'),
  sentAt: moment('sent_at'),
  deliveredAt: moment('delivered_at'),
});

const octets = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' });

/** The messages of emails, written once. */
export const emailMessages = pgTable('email_messages', {
  id: text('id').primaryKey(),
  workspaceId: text('workspace_id').notNull(),
  livemode: boolean('livemode').notNull(),
  senderKey: text('sender_key').notNull(),
  subject: text('subject').notNull(),
  tags: text('tags').array().notNull(),
  domainId: text('domain_id'),
  templateId: text('template_id'),
  campaignId: text('campaign_id'),
  envelope: json('envelope').notNull(),
  content: octets('content').notNull(),
});

/** The event log. */
export const emailEvents = pgTable(
  'email_events',
  {
    emailId: text('email_id').notNull(),
    id: text('id').notNull(),
    workspaceId: text('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    type: text('type').notNull(),
    recipient: text('recipient').notNull(),
    occurredAt: moment('occurred_at').notNull(),
    data: json('data').notNull(),
    /** The order of the gap-free log; see `event_position` in the schema. */
    position: bigint('position', { mode: 'bigint' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.emailId, table.id] })],
);
