import { bigint, integer, pgTable } from 'drizzle-orm/pg-core';
import { keyOf, moment, refersTo, textC } from './columns.ts';
import { workspaces } from './workspaces.ts';

const counts = {
  accepted: integer('accepted').notNull(),
  sent: integer('sent').notNull(),
  delivered: integer('delivered').notNull(),
  opened: integer('opened').notNull(),
  clicked: integer('clicked').notNull(),
  bounced: integer('bounced').notNull(),
  complained: integer('complained').notNull(),
  unsubscribed: integer('unsubscribed').notNull(),
  machineOpened: integer('machine_opened').notNull(),
  machineClicked: integer('machine_clicked').notNull(),
  sentOfAccepted: integer('sent_of_accepted').notNull(),
  deliveredOfAccepted: integer('delivered_of_accepted').notNull(),
  openedOfAccepted: integer('opened_of_accepted').notNull(),
  clickedOfAccepted: integer('clicked_of_accepted').notNull(),
  bouncedOfAccepted: integer('bounced_of_accepted').notNull(),
  complainedOfAccepted: integer('complained_of_accepted').notNull(),
  unsubscribedOfAccepted: integer('unsubscribed_of_accepted').notNull(),
  machineOpenedOfAccepted: integer('machine_opened_of_accepted').notNull(),
  machineClickedOfAccepted: integer('machine_clicked_of_accepted').notNull(),
  reachedDelivered: integer('reached_delivered').notNull(),
  reachedOpened: integer('reached_opened').notNull(),
  reachedClicked: integer('reached_clicked').notNull(),
  reachedBounced: integer('reached_bounced').notNull(),
};

/**
 * Counts of recipients of live mail, by the quarter of an hour, since the hours and days of every time zone
 * consist of quarters. The counts outlive the emails. `scope` names the emails: '' all of the workspace,
 * else `dom_… cmp_… tpl_… #name:value`, one to four of them in that order. An email counts in each of its
 * scopes. Columns without a suffix use the time of the event, `…_of_accepted` the time of the email's
 * acceptance. `reached_…` counts the recipients of those emails with at least one such event. `machine_…`
 * counts what programs opened or clicked.
 */
export const analytics = pgTable(
  'analytics',
  {
    workspaceId: textC('workspace_id').notNull(),
    scope: textC('scope').notNull(),
    quarter: moment('quarter').notNull(),
    ...counts,
  },
  (t) => [keyOf(t.workspaceId, t.scope, t.quarter), refersTo(t.workspaceId, workspaces.id)],
);

/**
 * The quarters of `analytics`, added up by the hour (UTC): ninety days are 2,160 rows instead of 8,640. One
 * statement writes both. A range that begins within an hour, such as a day in India, reads that hour from
 * its quarters.
 */
export const analyticsHours = pgTable(
  'analytics_hours',
  {
    workspaceId: textC('workspace_id').notNull(),
    scope: textC('scope').notNull(),
    hour: moment('hour').notNull(),
    ...counts,
  },
  (t) => [keyOf(t.workspaceId, t.scope, t.hour), refersTo(t.workspaceId, workspaces.id)],
);

/**
 * The position of the last counted email (its acceptance) and of the last counted event of each workspace.
 */
export const analyticsCursors = pgTable(
  'analytics_cursors',
  {
    workspaceId: textC('workspace_id').primaryKey(),
    accepted: bigint('accepted', { mode: 'bigint' }).notNull(),
    events: bigint('events', { mode: 'bigint' }).notNull(),
  },
  (t) => [refersTo(t.workspaceId, workspaces.id)],
);

/**
 * The counted tags. They are limited, since a tag with a new value in every order would add rows for ever.
 */
export const analyticsTags = pgTable(
  'analytics_tags',
  {
    workspaceId: textC('workspace_id').notNull(),
    tag: textC('tag').notNull(),
  },
  (t) => [keyOf(t.workspaceId, t.tag), refersTo(t.workspaceId, workspaces.id)],
);
