import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  json,
  pgTable,
  pgView,
  smallint,
  text,
} from 'drizzle-orm/pg-core';
import { keyOf, moment, octets, oneOf, textC } from './columns.ts';

/**
 * The request and the first state of each email, which is its first revision. A row is written once. The
 * table is partitioned by the day in the id, so that retention drops a day at once
 * (`src/platform/db/partitions.ts`). `position` orders the acceptance of live mail; it is null for test
 * mail.
 */
export const emails = pgTable(
  'emails',
  {
    id: textC('id').primaryKey(),
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    state: text('state', {
      enum: ['scheduled', 'queued', 'sending', 'deferred', 'sent', 'delivered', 'failed', 'cancelled'],
    }).notNull(),
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
    domainId: textC('domain_id'),
    templateId: textC('template_id'),
    campaignId: textC('campaign_id'),
    envelope: json('envelope').notNull(),
    /**
     * The instance that executes the first order at once; null where the email waits for the clock from the
     * start.
     */
    keptBy: integer('kept_by'),
    /** JSON that the service has compressed with zstd (`src/sending/emails/accept/packed-content.ts`). */
    content: octets('content').notNull(),
    position: bigint('position', { mode: 'bigint' }),
    testClockId: textC('test_clock_id'),
  },
  (t) => [
    oneOf(t.state),
    // Ascending: PostgreSQL fills pages with entries at the end of a workspace's range; entries at the
    // beginning halve them.
    index('emails_by_workspace').on(t.workspaceId, t.livemode, t.id),
    // Analytics read from it the emails accepted since their last run.
    index('emails_by_position').on(t.workspaceId, t.position).where(sql`${t.position} is not null`),
    index('emails_of_test_clocks').on(t.testClockId, t.id).where(sql`${t.testClockId} is not null`),
  ],
);

/**
 * The later revisions of an email, a row for each write: the snapshot (of the context only the part that
 * can change), the steps, the recorded events and the outcomes that leave no event. The key checks the
 * revision: of two writes of one revision one is refused. `position` places the events in the event log; it
 * is null where there are none. Partitioned as `emails`.
 */
export const emailTurns = pgTable(
  'email_turns',
  {
    emailId: textC('email_id').notNull(),
    revision: integer('revision').notNull(),
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    state: text('state', {
      enum: ['scheduled', 'queued', 'sending', 'deferred', 'sent', 'delivered', 'failed', 'cancelled'],
    }).notNull(),
    context: json('context').notNull(),
    timers: json('timers'),
    machineVersion: smallint('machine_version').notNull(),
    commitTag: integer('commit_tag').notNull(),
    steps: json('steps').notNull(),
    at: moment('at').notNull(),
    lastEvent: text('last_event'),
    failureReason: text('failure_reason'),
    scheduledAt: moment('scheduled_at'),
    sentAt: moment('sent_at'),
    deliveredAt: moment('delivered_at'),
    recorded: json('recorded'),
    noted: json('noted'),
    position: bigint('position', { mode: 'bigint' }),
  },
  (t) => [
    keyOf(t.emailId, t.revision),
    oneOf(t.state),
    // Without the email id: all turns of a commit have the same key then, which the index stores once.
    index('email_turns_by_position')
      .on(t.workspaceId, t.livemode, t.position)
      .where(sql`${t.position} is not null`),
    // Only rare final states are indexed: an entry for every delivered email would cost every email. An
    // email in one of these states has no later turn.
    index('email_turns_by_rare_state')
      .on(t.workspaceId, t.livemode, t.state, t.emailId.desc().nullsFirst())
      .where(sql`${t.state} in ('failed', 'cancelled')`),
  ],
);

/** The emails that wait for the clock, with their state. Only these rows are rewritten. */
export const emailDue = pgTable(
  'email_due',
  {
    id: textC('id').primaryKey(),
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    state: text('state').notNull(),
    wakeAt: moment('wake_at').notNull(),
    /**
     * True for mail of campaigns, which yields to single mail: each instance claims as many of them as it
     * has room for.
     */
    isBulk: boolean('is_bulk').notNull().default(false),
    /**
     * The epoch of the instance that has the email in its memory until `wake_at`, with no attempt begun. It
     * is null where no instance has it, and where its instance has no epoch (`src/engine/presence.ts`).
     */
    heldBy: integer('held_by'),
  },
  (t) => [
    // The scheduler reads this one.
    index('email_due_by_wake_at').on(t.wakeAt),
    index('email_due_bulk').on(t.wakeAt).where(sql`${t.isBulk}`),
    index('email_due_by_state')
      .on(t.workspaceId, t.livemode, t.state, t.id)
      .where(sql`${t.state} in ('scheduled', 'deferred')`),
    // Queued emails wait for a moment as a rule, but for days where a limit defers them: the list reads
    // them by workspace.
    index('email_due_queued').on(t.workspaceId, t.livemode, t.id).where(sql`${t.state} = 'queued'`),
  ],
);

/**
 * Positions in the event log count from `base`. They are transaction ids, which a restored dump counts
 * differently: `cluster` shows that the cluster is another one, and `base` is raised then
 * (`src/sending/events/commands.ts`).
 */
export const eventLog = pgTable(
  'event_log',
  {
    one: boolean('one').primaryKey().default(true),
    base: bigint('base', { mode: 'bigint' }).notNull(),
    cluster: text('cluster'),
  },
  (t) => [check('event_log_one_check', sql`${t.one}`)],
);

/**
 * Each email as it is now: its first revision, or the snapshot of its latest turn. `wake_at` is null where
 * it waits for nothing.
 */
export const emailsNow = pgView('emails_now', {
  id: textC('id'),
  workspaceId: textC('workspace_id'),
  livemode: boolean('livemode'),
  state: text('state'),
  context: json('context'),
  revision: integer('revision'),
  machineVersion: smallint('machine_version'),
  timers: json('timers'),
  at: moment('at'),
  wakeAt: moment('wake_at'),
  keptBy: integer('kept_by'),
  recipients: text('recipients').array(),
  recipientKeys: text('recipient_keys').array(),
  subject: text('subject'),
  tags: text('tags').array(),
  domainId: textC('domain_id'),
  templateId: textC('template_id'),
  campaignId: textC('campaign_id'),
  lastEvent: text('last_event'),
  failureReason: text('failure_reason'),
  scheduledAt: moment('scheduled_at'),
  sentAt: moment('sent_at'),
  deliveredAt: moment('delivered_at'),
}).existing();

/** Every write of an email with its steps, the first one included. */
export const emailJournal = pgView('email_journal', {
  actorId: textC('actor_id'),
  revision: integer('revision'),
  commitTag: integer('commit_tag'),
  steps: json('steps'),
  workspaceId: textC('workspace_id'),
}).existing();

/**
 * Recipients without an event after an attempt, and the reason. The outcome of the others is in the event
 * log.
 */
export const emailAttempts = pgView('email_attempts', {
  emailId: textC('email_id'),
  attempt: integer('attempt'),
  recipient: integer('recipient'),
  outcome: text('outcome'),
  at: moment('at'),
  data: json('data'),
  workspaceId: textC('workspace_id'),
}).existing();

/**
 * Every event of the log. Commits do not finish in the order of their ids: `position`, the transaction,
 * orders the log without gaps. A turn names recipients by their place among those of its email, so that an
 * address is stored in one row.
 */
export const emailEvents = pgView('email_events', {
  emailId: textC('email_id').notNull(),
  id: textC('id').notNull(),
  workspaceId: textC('workspace_id').notNull(),
  livemode: boolean('livemode').notNull(),
  type: text('type').notNull(),
  recipient: text('recipient').notNull(),
  occurredAt: moment('occurred_at').notNull(),
  data: json('data').notNull(),
  position: bigint('position', { mode: 'bigint' }).notNull(),
  writtenAt: moment('written_at').notNull(),
}).existing();
