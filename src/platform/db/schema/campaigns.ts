import { sql } from 'drizzle-orm';
import { index, integer, json, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { actorColumns, journal, keyOf, moment, oneOf, refersTo, textC } from './columns.ts';
import { workspaces } from './workspaces.ts';

/**
 * Actors: one message to all members of an audience. `attempt` is the number of the latest round of work:
 * emails of an abandoned round are refused by it.
 */
export const campaigns = pgTable(
  'campaigns',
  {
    ...actorColumns([
      'draft',
      'scheduled',
      'preparing',
      'sending',
      'paused',
      'sent',
      'cancelled',
      'failed',
      'deleted',
    ]),
    attempt: integer('attempt').notNull(),
  },
  (t) => [
    refersTo(t.workspaceId, workspaces.id),
    oneOf(t.state),
    index('campaigns_by_workspace')
      .on(t.workspaceId, t.livemode, t.id.desc().nullsFirst())
      .where(sql`${t.state} <> 'deleted'`),
    index('campaigns_by_wake_at').on(t.wakeAt).where(sql`${t.wakeAt} is not null`),
  ],
);

export const campaignJournal = journal('campaign_journal');

/** The settings of a campaign, apart from the actor, since a commit writes an actor's row once. */
export const campaignSettings = pgTable(
  'campaign_settings',
  {
    campaignId: textC('campaign_id').primaryKey(),
    name: text('name').notNull(),
    audienceId: textC('audience_id').notNull(),
    templateId: textC('template_id'),
    settings: json('settings').notNull(),
    updatedAt: moment('updated_at').notNull(),
  },
  (t) => [index('campaign_settings_by_template').on(t.templateId).where(sql`${t.templateId} is not null`)],
);

/**
 * The content of a campaign at its start, once for all recipients. Each email is rendered from it when it
 * is sent or read. The columns that statements read for each email or click are apart from the document,
 * which may exceed 256 KiB. `audience_id` is the audience that a recipient can leave, null where a filter
 * chooses.
 */
export const campaignContents = pgTable('campaign_contents', {
  campaignId: textC('campaign_id').primaryKey(),
  content: json('content').notNull(),
  audienceId: textC('audience_id'),
  links: json('links').notNull(),
});

/**
 * All members of the audience at the start, skipped ones included. `address_hash` is the MD5 of the
 * normalised address: no address gets two emails, and an email finds its recipient by it. It is null for a
 * forgotten person. The statement that accepts the email sets `sent`. Only the hash and the key are
 * indexed, so that an update that fits into its page changes no index.
 */
export const campaignRecipients = pgTable(
  'campaign_recipients',
  {
    campaignId: textC('campaign_id').notNull(),
    contactId: textC('contact_id').notNull(),
    addressHash: uuid('address_hash'),
    state: text('state', { enum: ['waiting', 'sent', 'failed', 'skipped'] }).notNull(),
    reason: text('reason'),
    emailId: textC('email_id'),
    openedAt: moment('opened_at'),
    clickedAt: moment('clicked_at'),
    bouncedAt: moment('bounced_at'),
    complainedAt: moment('complained_at'),
    unsubscribedAt: moment('unsubscribed_at'),
    repliedAt: moment('replied_at'),
  },
  (t) => [
    keyOf(t.campaignId, t.contactId),
    oneOf(t.state),
    uniqueIndex('campaign_recipients_by_address').on(t.campaignId, t.addressHash),
    // Few reply: counting them reads these alone, and no other change of a row touches it.
    index('campaign_recipients_replied').on(t.campaignId).where(sql`${t.repliedAt} is not null`),
  ],
);

/**
 * Counts, one row for each commit, so that no commit waits for a row; a duty adds rows up. The first five
 * always satisfy total = remaining + sent + skipped + failed. `next_at` is the earliest time of the next
 * email where a rate is set.
 */
export const campaignTallies = pgTable(
  'campaign_tallies',
  {
    campaignId: textC('campaign_id').notNull(),
    total: integer('total').notNull().default(0),
    remaining: integer('remaining').notNull().default(0),
    sent: integer('sent').notNull().default(0),
    skipped: integer('skipped').notNull().default(0),
    failed: integer('failed').notNull().default(0),
    delivered: integer('delivered').notNull().default(0),
    opens: integer('opens').notNull().default(0),
    uniqueOpens: integer('unique_opens').notNull().default(0),
    machineOpens: integer('machine_opens').notNull().default(0),
    clicks: integer('clicks').notNull().default(0),
    uniqueClicks: integer('unique_clicks').notNull().default(0),
    machineClicks: integer('machine_clicks').notNull().default(0),
    bouncedPermanent: integer('bounced_permanent').notNull().default(0),
    bouncedTransient: integer('bounced_transient').notNull().default(0),
    complained: integer('complained').notNull().default(0),
    unsubscribed: integer('unsubscribed').notNull().default(0),
    nextAt: moment('next_at'),
    /** Failed recipients whose email may have arrived. */
    inDoubt: integer('in_doubt').notNull().default(0),
  },
  (t) => [index('campaign_tallies_by_campaign').on(t.campaignId)],
);

/** Clicks by people on each link, as its author wrote it, by contact. */
export const campaignClicks = pgTable(
  'campaign_clicks',
  {
    campaignId: textC('campaign_id').notNull(),
    link: integer('link').notNull(),
    contactId: textC('contact_id').notNull(),
    clicks: integer('clicks').notNull(),
  },
  (t) => [keyOf(t.campaignId, t.link, t.contactId)],
);
