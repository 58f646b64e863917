import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  json,
  pgTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { actorColumns, journal, keyOf, moment, oneOf, refersTo, textC } from './columns.ts';
import { workspaces } from './workspaces.ts';

/**
 * Automations. `version` is the latest version, `published_version` that of new runs. The trigger is apart
 * from the definition, so that the follower of the log need not read definitions: `listens_to` is the id of
 * an audience or the name of an event, and only entries after `since_position` in the log count. Runs that
 * began before `cancels_before` are cancelled.
 */
export const flows = pgTable(
  'flows',
  {
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    id: textC('id').notNull(),
    name: text('name').notNull(),
    status: text('status', { enum: ['draft', 'active', 'paused'] }).notNull(),
    isHeld: boolean('is_held').notNull().default(false),
    version: integer('version').notNull(),
    publishedVersion: integer('published_version'),
    triggerType: text('trigger_type'),
    listensTo: text('listens_to'),
    sincePosition: bigint('since_position', { mode: 'bigint' }).notNull().default(sql`0`),
    scannedTo: moment('scanned_to'),
    cancelsBefore: moment('cancels_before'),
    deletedAt: moment('deleted_at'),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
  },
  (t) => [
    keyOf(t.workspaceId, t.livemode, t.id),
    oneOf(t.status),
    uniqueIndex('flows_by_id').on(t.id),
    index('flows_listening')
      .on(t.workspaceId, t.livemode, t.triggerType)
      .where(sql`${t.status} = 'active' and ${t.deletedAt} is null`),
    index('flows_ending').on(t.id).where(sql`${t.cancelsBefore} is not null or ${t.deletedAt} is not null`),
  ],
);

/** A version never changes once it is published: a run keeps the version that it began with. */
export const flowVersions = pgTable(
  'flow_versions',
  {
    flowId: textC('flow_id').notNull(),
    version: integer('version').notNull(),
    definition: json('definition').notNull(),
    createdAt: moment('created_at').notNull(),
    publishedAt: moment('published_at'),
  },
  (t) => [keyOf(t.flowId, t.version)],
);

/**
 * Actors: the run of one contact through one version. `step` is its present step, `awaits` the event that
 * it waits for.
 */
export const flowRuns = pgTable(
  'flow_runs',
  {
    ...actorColumns(),
    definitionId: textC('definition_id'),
    status: text('status', {
      enum: ['running', 'waiting', 'completed', 'exited', 'failed', 'cancelled'],
    }).notNull(),
    step: text('step'),
    awaits: text('awaits'),
    endedAt: moment('ended_at'),
    startedAt: moment('started_at').notNull(),
    flowId: textC('flow_id').notNull(),
    flowVersion: integer('flow_version').notNull(),
    contactId: textC('contact_id').notNull(),
    occurrenceKey: textC('occurrence_key').notNull(),
    isWatched: boolean('is_watched').notNull(),
    testClockId: textC('test_clock_id'),
    /** The start by the test clock; `started_at` is the real time. */
    clockStartedAt: moment('clock_started_at'),
  },
  (t) => [
    refersTo(t.workspaceId, workspaces.id),
    oneOf(t.status),
    index('flow_runs_by_flow').on(t.flowId, t.id.desc().nullsFirst()),
    index('flow_runs_by_contact').on(t.contactId, t.id.desc().nullsFirst()),
    index('flow_runs_by_workspace').on(t.workspaceId, t.livemode, t.id.desc().nullsFirst()),
    index('flow_runs_awaiting').on(t.contactId, t.awaits).where(sql`${t.awaits} is not null`),
    index('flow_runs_watched').on(t.contactId).where(sql`${t.isWatched} and ${t.endedAt} is null`),
    index('flow_runs_held').on(t.flowId, t.id).where(sql`${t.state} = 'held'`),
    index('flow_runs_under_way').on(t.flowId, t.id).where(sql`${t.endedAt} is null`),
    index('flow_runs_by_wake_at').on(t.wakeAt).where(sql`${t.wakeAt} is not null`),
    // Only runs in a step: there are few at any time.
    index('flow_runs_running').on(t.flowId).where(sql`${t.status} = 'running'`),
    // One occurrence begins one run, however often it is reported; and a contact has one open run of a flow.
    uniqueIndex('flow_runs_by_occurrence').on(t.occurrenceKey, t.flowId),
    uniqueIndex('flow_runs_open').on(t.contactId, t.flowId).where(sql`${t.endedAt} is null`),
    index('flow_runs_of_test_clocks').on(t.testClockId, t.id).where(sql`${t.testClockId} is not null`),
  ],
);

export const flowRunJournal = journal('flow_run_journal');

/** The outcome of each step of a run. */
export const flowRunLog = pgTable(
  'flow_run_log',
  {
    runId: textC('run_id').notNull(),
    visit: integer('visit').notNull(),
    flowId: textC('flow_id').notNull(),
    step: text('step').notNull(),
    at: moment('at').notNull(),
    outcome: text('outcome').notNull(),
    emailId: textC('email_id'),
  },
  (t) => [keyOf(t.runId, t.visit)],
);

/** The contacts that ever entered a flow, over all its versions, longer than its runs are stored. */
export const flowEntrants = pgTable(
  'flow_entrants',
  {
    flowId: textC('flow_id').notNull(),
    contactId: textC('contact_id').notNull(),
  },
  (t) => [keyOf(t.flowId, t.contactId)],
);

/** The key that webhook steps are signed with, sealed. */
export const flowWebhookSecrets = pgTable(
  'flow_webhook_secrets',
  {
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    sealed: text('sealed').notNull(),
    createdAt: moment('created_at').notNull(),
  },
  (t) => [keyOf(t.workspaceId, t.livemode)],
);

/** The place of the flows in the activity of contacts, and the instance that follows it at the moment. */
export const flowFeed = pgTable(
  'flow_feed',
  {
    one: boolean('one').primaryKey().default(true),
    position: bigint('position', { mode: 'bigint' }).notNull().default(sql`0`),
    id: textC('id').notNull().default(''),
    follower: text('follower'),
    followedUntil: moment('followed_until'),
  },
  (t) => [check('flow_feed_one_check', sql`${t.one}`)],
);

/**
 * Counts of flows, one row for each commit, so that no commit waits for a row; a duty adds rows up. An
 * empty step counts runs, `entered` and by final status; others count outcomes of the step. Counting the
 * rows of runs and of their log took longer with each further row.
 */
export const flowTallies = pgTable(
  'flow_tallies',
  {
    flowId: textC('flow_id').notNull(),
    step: textC('step').notNull(),
    outcome: textC('outcome').notNull(),
    count: integer('count').notNull(),
  },
  (t) => [index('flow_tallies_by_flow').on(t.flowId, t.step, t.outcome)],
);

/**
 * Workspaces with slow filters, each with a separate place in the activity, so that no other workspace
 * waits for them. `size` is the number of entries they take at once, `tries` the failed attempts at a
 * single one. They rejoin the others once they have caught up, not before `returns_at`.
 */
export const flowLaggards = pgTable('flow_laggards', {
  workspaceId: textC('workspace_id').primaryKey(),
  position: bigint('position', { mode: 'bigint' }).notNull(),
  id: textC('id').notNull(),
  size: integer('size').notNull(),
  tries: integer('tries').notNull().default(0),
  nextAt: moment('next_at').notNull(),
  returnsAt: moment('returns_at').notNull(),
});
