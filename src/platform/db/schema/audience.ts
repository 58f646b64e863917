import { bigint, boolean, json, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { moment } from './actor.ts';

/** People that a workspace writes to. */
export const contacts = pgTable(
  'contacts',
  {
    workspaceId: text('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    id: text('id').notNull(),
    email: text('email').notNull(),
    emailKey: text('email_key').notNull(),
    firstName: text('first_name'),
    lastName: text('last_name'),
    firstNameKey: text('first_name_key'),
    lastNameKey: text('last_name_key'),
    nameKey: text('name_key'),
    properties: jsonb('properties').notNull(),
    status: text('status').notNull(),
    unsubscribedAt: moment('unsubscribed_at'),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.livemode, table.id] })],
);

/** Events of a contact, and the contact's actions. */
export const contactActivity = pgTable(
  'contact_activity',
  {
    contactId: text('contact_id').notNull(),
    id: text('id').notNull(),
    livemode: boolean('livemode').notNull(),
    type: text('type').notNull(),
    at: moment('at').notNull(),
    subject: text('subject'),
    emailId: text('email_id'),
    campaignId: text('campaign_id'),
    byMachine: boolean('by_machine').notNull(),
    data: json('data'),
    position: bigint('position', { mode: 'bigint' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.contactId, table.id] })],
);

/** Groups of contacts. */
export const audiences = pgTable(
  'audiences',
  {
    workspaceId: text('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    id: text('id').notNull(),
    name: text('name').notNull(),
    description: text('description'),
    type: text('type').notNull(),
    filter: json('filter'),
    public: boolean('public').notNull(),
    confirm: boolean('confirm').notNull(),
    filterSince: moment('filter_since').notNull(),
    isFollowed: boolean('is_followed').notNull(),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.livemode, table.id] })],
);

export const audienceMembers = pgTable(
  'audience_members',
  {
    audienceId: text('audience_id').notNull(),
    contactId: text('contact_id').notNull(),
    state: text('state').notNull(),
    since: moment('since').notNull(),
  },
  (table) => [primaryKey({ columns: [table.audienceId, table.contactId] })],
);
