import {
  bigint,
  boolean,
  customType,
  integer,
  json,
  pgTable,
  pgView,
  smallint,
  text,
} from 'drizzle-orm/pg-core';
import { moment } from './actor.ts';

const octets = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' });

/** Emails as they were accepted; written once. */
export const emails = pgTable('emails', {
  id: text('id').primaryKey(),
  workspaceId: text('workspace_id').notNull(),
  livemode: boolean('livemode').notNull(),
  state: text('state').notNull(),
  context: json('context').notNull(),
  timers: json('timers'),
  machineVersion: smallint('machine_version').notNull(),
  commitTag: integer('commit_tag').notNull(),
  steps: json('steps').notNull(),
  at: moment('at').notNull(),
  scheduledAt: moment('scheduled_at'),
  recipients: text('recipients').array().notNull(),
  recipientKeys: text('recipient_keys').array().notNull(),
  senderKey: text('sender_key').notNull(),
  subject: text('subject').notNull(),
  tags: text('tags').array().notNull(),
  domainId: text('domain_id'),
  templateId: text('template_id'),
  campaignId: text('campaign_id'),
  envelope: json('envelope').notNull(),
  keptBy: integer('kept_by'),
  content: octets('content').notNull(),
});

/** The turns of each email, a row for each write. */
export const emailTurns = pgTable('email_turns', {
  emailId: text('email_id').notNull(),
  revision: integer('revision').notNull(),
  workspaceId: text('workspace_id').notNull(),
  livemode: boolean('livemode').notNull(),
  state: text('state').notNull(),
  context: json('context').notNull(),
  lastEvent: text('last_event'),
  failureReason: text('failure_reason'),
  scheduledAt: moment('scheduled_at'),
  sentAt: moment('sent_at'),
  deliveredAt: moment('delivered_at'),
});

/** The emails that wait for the clock. */
export const emailDue = pgTable('email_due', {
  id: text('id').primaryKey(),
  workspaceId: text('workspace_id').notNull(),
  livemode: boolean('livemode').notNull(),
  state: text('state').notNull(),
  wakeAt: moment('wake_at').notNull(),
  isBulk: boolean('is_bulk').notNull(),
});

/** The instances that keep births. */
export const instances = pgTable('instances', {
  id: integer('id').notNull(),
  open: boolean('open').notNull(),
  lowWater: text('low_water').notNull(),
});

/** The processes of the service that live. */
export const serviceInstances = pgTable('service_instances', {
  id: text('id').primaryKey(),
  roles: text('roles').array().notNull(),
  seenAt: moment('seen_at').notNull(),
  secretKeys: text('secret_keys').array(),
  sealsWith: text('seals_with'),
  version: text('version'),
  startedAt: moment('started_at'),
});

/** The event log, as it lies in the turns. */
export const emailEvents = pgView('email_events', {
  emailId: text('email_id').notNull(),
  id: text('id').notNull(),
  workspaceId: text('workspace_id').notNull(),
  livemode: boolean('livemode').notNull(),
  type: text('type').notNull(),
  recipient: text('recipient').notNull(),
  occurredAt: moment('occurred_at').notNull(),
  data: json('data').notNull(),
  /** Orders the gap-free log: see `event_position` in the schema. */
  position: bigint('position', { mode: 'bigint' }).notNull(),
}).existing();
