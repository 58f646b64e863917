import { sql } from 'drizzle-orm';
import { boolean, check, index, json, pgTable, text } from 'drizzle-orm/pg-core';
import { keyOf, moment, oneOf, textC } from './columns.ts';

/**
 * Groups of contacts. A static audience has its members in `audience_members`; a dynamic one is a filter.
 * `is_followed` is true once all contacts that the filter of `filter_since` matched at first are recorded.
 */
export const audiences = pgTable(
  'audiences',
  {
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    id: textC('id').notNull(),
    name: text('name').notNull(),
    description: text('description'),
    type: text('type', { enum: ['static', 'dynamic'] }).notNull(),
    filter: json('filter'),
    public: boolean('public').notNull(),
    confirm: boolean('confirm').notNull(),
    filterSince: moment('filter_since').notNull().defaultNow(),
    isFollowed: boolean('is_followed').notNull().default(false),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
  },
  (t) => [
    keyOf(t.workspaceId, t.livemode, t.id),
    oneOf(t.type),
    check('audiences_check', sql`(${t.type} = 'dynamic') = (${t.filter} is not null)`),
  ],
);

/** The members of static audiences: `pending` until the person confirms, where the audience asks for that. */
export const audienceMembers = pgTable(
  'audience_members',
  {
    audienceId: textC('audience_id').notNull(),
    contactId: textC('contact_id').notNull(),
    state: text('state', { enum: ['pending', 'joined'] }).notNull(),
    since: moment('since').notNull(),
  },
  (t) => [
    keyOf(t.audienceId, t.contactId),
    oneOf(t.state),
    index('audience_members_by_contact').on(t.contactId, t.audienceId),
  ],
);

/**
 * The dynamic audiences that matched a contact at the last evaluation. A contact that begins or ceases to
 * match joins or leaves. A contact that never matched has no row.
 */
export const audienceMatches = pgTable(
  'audience_matches',
  {
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    contactId: textC('contact_id').notNull(),
    audienceIds: text('audience_ids').array().notNull(),
  },
  (t) => [keyOf(t.workspaceId, t.livemode, t.contactId)],
);

/**
 * The place of the evaluation in the contacts of an environment, in order of id: `after` is empty before
 * the first contact.
 */
export const audienceWalks = pgTable(
  'audience_walks',
  {
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    beganAt: moment('began_at').notNull(),
    after: textC('after').notNull(),
    nextAt: moment('next_at').notNull(),
  },
  (t) => [keyOf(t.workspaceId, t.livemode), index('audience_walks_by_next').on(t.nextAt)],
);

/**
 * Audiences that forgotten people had left by themselves. The address is a keyed hash. A row is written by
 * the statement that forgets, read by the one that makes a contact of the address again, and replaced when
 * that one is forgotten.
 */
export const forgottenLeavings = pgTable(
  'forgotten_leavings',
  {
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    addressHash: textC('address_hash').notNull(),
    audienceId: textC('audience_id').notNull(),
    leftAt: moment('left_at').notNull(),
  },
  (t) => [
    keyOf(t.workspaceId, t.livemode, t.addressHash, t.audienceId),
    index('forgotten_leavings_by_audience').on(t.audienceId),
  ],
);

/**
 * Confirmation mails to accept. A row is written with the change that requires the mail and deleted in the
 * statement that accepts it, so that no mail is lost and none is sent twice. Its id becomes that of the
 * entry in the contact's activity.
 */
export const confirmations = pgTable(
  'confirmations',
  {
    id: textC('id').primaryKey(),
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    audienceId: textC('audience_id').notNull(),
    contactId: textC('contact_id').notNull(),
    askedAt: moment('asked_at').notNull(),
    nextAt: moment('next_at').notNull(),
  },
  (t) => [index('confirmations_by_next').on(t.nextAt), index('confirmations_by_contact').on(t.contactId)],
);
