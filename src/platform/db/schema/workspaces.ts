import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, pgTable, pgView, text } from 'drizzle-orm/pg-core';
import type { FontName } from '../../text/fonts.ts';
import { actorColumns, journal, keyOf, moment, octets, oneOf, refersTo, textC } from './columns.ts';

/**
 * The workspaces, which are the tenants. Columns are null where nothing has been set. `muted_emails` are
 * the kinds of the service's own emails that it does not want. `logo` is the file name of its present logo.
 * The keys of an archived workspace are refused; one with `erase_at` is invisible, and its rows are being
 * removed.
 */
export const workspaces = pgTable(
  'workspaces',
  {
    id: textC('id').primaryKey(),
    name: text('name').notNull(),
    plan: text('plan', { enum: ['free', 'starter', 'growth', 'unlimited'] }).notNull(),
    defaultFrom: text('default_from'),
    defaultReplyTo: text('default_reply_to'),
    logo: text('logo'),
    colour: text('colour'),
    address: text('address'),
    website: text('website'),
    /** The name of a font of `src/platform/text/fonts.ts`. */
    fontFamily: text('font_family').$type<FontName>(),
    timeZone: text('time_zone').notNull().default('UTC'),
    mutedEmails: text('muted_emails').array().notNull().default([]),
    createdAt: moment('created_at').notNull(),
    archivedAt: moment('archived_at'),
    eraseAt: moment('erase_at'),
    /** The last change of the settings. A change that was based on an earlier one is refused. Null: never. */
    updatedAt: moment('updated_at'),
    /** The language of the service's own emails to people who prefer none; null: English. */
    language: text('language'),
  },
  (t) => [oneOf(t.plan)],
);

/**
 * Logos are served by the hash of their content for as long as emails may show them: a new logo leaves the
 * earlier ones in place, and the workspace names the present one.
 */
export const workspaceLogos = pgTable(
  'workspace_logos',
  {
    workspaceId: textC('workspace_id').notNull(),
    file: textC('file').notNull(),
    content: octets('content').notNull(),
    createdAt: moment('created_at').notNull(),
  },
  (t) => [
    keyOf(t.workspaceId, t.file),
    refersTo(t.workspaceId, workspaces.id),
    index('workspace_logos_by_file').on(t.file),
  ],
);

/** Actors: the API keys. */
export const apiKeys = pgTable(
  'api_keys',
  {
    ...actorColumns(['active', 'revoked']),
    name: text('name').notNull(),
    prefix: text('prefix').notNull(),
    hash: textC('hash').notNull().unique('api_keys_hash_key'),
    lastUsedAt: moment('last_used_at'),
    revokedAt: moment('revoked_at'),
    /**
     * The member or the key that created it, so that removing a member can revoke their keys; null for the
     * operator's.
     */
    createdBy: textC('created_by'),
  },
  (t) => [
    refersTo(t.workspaceId, workspaces.id),
    oneOf(t.state),
    index('api_keys_by_workspace').on(t.workspaceId, t.id.desc().nullsFirst()),
    index('api_keys_that_are_active').on(t.workspaceId, t.livemode).where(sql`${t.state} = 'active'`),
  ],
);

export const apiKeyJournal = journal('api_key_journal');

/**
 * One row a workspace, environment and period ('2026-11' live, '2026-11-20' test). `wanted`, `granted` and
 * `quota` are the request, the result and the limit of the last batch: the statement that takes the units
 * reads them back. `used` may be negative for a while, since a unit may be returned before its entry has
 * been added up.
 */
export const usage = pgTable(
  'usage',
  {
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    period: textC('period').notNull(),
    used: integer('used').notNull(),
    wanted: integer('wanted').notNull(),
    granted: integer('granted').notNull(),
    quota: integer('quota').notNull(),
  },
  (t) => [keyOf(t.workspaceId, t.livemode, t.period)],
);

/**
 * Units without a quota: a row a batch, never updated, added up into `usage` every ten seconds. With one
 * row that every batch updated, each batch waited for the one before and read past all dead versions while
 * an old transaction was open: after ten minutes the rate was 0.76 of the first minute's.
 */
export const usageEntries = pgTable('usage_entries', {
  workspaceId: textC('workspace_id').notNull(),
  livemode: boolean('livemode').notNull(),
  period: textC('period').notNull(),
  units: integer('units').notNull(),
});

/** The used units of each period, with the entries that are not added up yet. */
export const usageTotals = pgView('usage_totals', {
  workspaceId: textC('workspace_id').notNull(),
  livemode: boolean('livemode').notNull(),
  period: textC('period').notNull(),
  used: integer('used').notNull(),
}).existing();

/**
 * The subscription of each workspace at Stripe. `asked` counts the requests to Stripe, `read` is the latest
 * one whose answer was written: an answer that a later one has overtaken changes nothing, so that callbacks
 * may come in any order.
 */
export const billing = pgTable(
  'billing',
  {
    workspaceId: textC('workspace_id').primaryKey(),
    customer: textC('customer').notNull().unique('billing_customer_key'),
    subscription: text('subscription'),
    status: text('status').notNull().default('none'),
    plan: text('plan'),
    paidPlan: text('paid_plan'),
    paidUntil: moment('paid_until'),
    pastDueSince: moment('past_due_since'),
    renewsAt: moment('renews_at'),
    cancelAt: moment('cancel_at'),
    asked: bigint('asked', { mode: 'number' }).notNull().default(0),
    read: bigint('read', { mode: 'number' }).notNull().default(0),
  },
  (t) => [refersTo(t.workspaceId, workspaces.id)],
);

/** Processed callbacks, so that each one is processed once. */
export const stripeEvents = pgTable(
  'stripe_events',
  {
    id: textC('id').primaryKey(),
    at: moment('at').notNull(),
  },
  (t) => [index('stripe_events_by_age').on(t.at)],
);
