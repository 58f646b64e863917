import { type SQL, sql } from 'drizzle-orm';
import { type AnyPgColumn, bigint, boolean, index, json, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import {
  CONTACT_FIELD_NAMES,
  CONTACT_FIELDS,
  type ContactFieldName,
  eachField,
} from '../../text/contact-fields.ts';
import { keyOf, moment, oneOf, textC } from './columns.ts';

/** A column beside each field, for the search: `lastNameKey`. */
const fieldKeys = Object.fromEntries(
  CONTACT_FIELD_NAMES.map((name) => [`${name}Key`, textC(`${CONTACT_FIELDS[name].column}_key`)]),
) as Record<`${ContactFieldName}Key`, ReturnType<typeof textC>>;

/**
 * People that a workspace writes to. `email_key` is the normalised address, which is compared. The service
 * makes the keys of names in lower case: `lower()` depends on the database's locale, and a search would
 * find other people on another server. The unique index of addresses includes the id, which drizzle-kit
 * cannot say.
 */
export const contacts = pgTable(
  'contacts',
  {
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    id: textC('id').notNull(),
    email: text('email').notNull(),
    emailKey: textC('email_key').notNull(),
    ...eachField((name) => text(CONTACT_FIELDS[name].column)),
    ...fieldKeys,
    nameKey: textC('name_key').generatedAlwaysAs(
      sql`case when first_name_key is not null and last_name_key is not null then first_name_key || ' ' || last_name_key else coalesce(first_name_key, last_name_key) end`,
    ),
    properties: jsonb('properties').notNull(),
    status: text('status', { enum: ['subscribed', 'unsubscribed', 'bounced', 'complained'] }).notNull(),
    unsubscribedAt: moment('unsubscribed_at'),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
    /**
     * The latest three confirmation mails to the person. They are in the row itself, which two requests
     * cannot change at once.
     */
    askedAt: moment('asked_at').array(),
  },
  (t) => [
    keyOf(t.workspaceId, t.livemode, t.id),
    oneOf(t.status),
    index('contacts_by_status')
      .on(t.workspaceId, t.livemode, t.status, t.id)
      .where(sql`${t.status} <> 'subscribed'`),
    index('contacts_by_property').using('gin', t.properties.op('jsonb_path_ops')),
    index('contacts_by_name')
      .on(t.workspaceId, t.livemode, t.nameKey, t.id)
      .where(sql`${t.nameKey} is not null`),
    index('contacts_by_last_name')
      .on(t.workspaceId, t.livemode, t.lastNameKey, t.id)
      .where(FIELD_INDEXES.lastName.where),
  ],
);

/** An index that knows how texts begin, and the condition under which it has a contact. */
export interface SearchIndex {
  readonly key: AnyPgColumn;
  readonly where: SQL;
}

/**
 * The index by which each field is searched; a new field does not compile until it has one. That of last
 * names leaves out people whose only name is the last one: `nameKey` is that name.
 */
export const FIELD_INDEXES: Readonly<Record<ContactFieldName, SearchIndex>> = {
  firstName: { key: contacts.nameKey, where: sql`true` },
  lastName: {
    key: contacts.lastNameKey,
    where: sql`${contacts.firstNameKey} is not null and ${contacts.lastNameKey} is not null`,
  },
};

/**
 * Events of a contact, and the contact's actions. Rows of emails are deleted with their emails, except
 * unsubscriptions and complaints. `subject` is the id of the audience, import or run, or the name of a custom
 * event. `position` orders the rows without an email free of gaps, as in the event log. Its default is a
 * function, which drizzle-kit would need before the tables. A release adds types, which the release before it
 * reads beside it, so that the table does not check them.
 */
export const contactActivity = pgTable(
  'contact_activity',
  {
    contactId: textC('contact_id').notNull(),
    id: textC('id').notNull(),
    livemode: boolean('livemode').notNull(),
    type: text('type', {
      enum: [
        'created',
        'imported',
        'subscribed',
        'unsubscribed',
        'asked',
        'notAsked',
        'joined',
        'left',
        'event',
        'sent',
        'delivered',
        'opened',
        'clicked',
        'bounced',
        'complained',
        'replied',
      ],
    }).notNull(),
    at: moment('at').notNull(),
    subject: text('subject'),
    emailId: textC('email_id'),
    campaignId: textC('campaign_id'),
    byMachine: boolean('by_machine').notNull().default(false),
    data: json('data'),
    position: bigint('position', { mode: 'bigint' })
      .notNull()
      .$defaultFn(() => sql`event_position()`),
    testClockId: textC('test_clock_id'),
    /** True until the test clock has followed the entry. No other follower takes it. */
    awaitsClock: boolean('awaits_clock').notNull().default(false),
  },
  (t) => [
    keyOf(t.contactId, t.id),
    index('contact_activity_by_position').on(t.position, t.id).where(sql`${t.emailId} is null`),
    // Rows come in the order of time, so that a few pages of this index tell which part of the table is old.
    index('contact_activity_by_age').using('brin', t.at),
    index('contact_activity_of_test_clocks').on(t.testClockId, t.position, t.id).where(sql`${t.awaitsClock}`),
  ],
);

/**
 * Erasures under way of people, beyond their own rows. The address is sealed. `below` is the place in the
 * workspace's emails, newest first; `waiting` are emails that still have to be sent.
 */
export const erasures = pgTable(
  'erasures',
  {
    id: textC('id').primaryKey(),
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    contactId: textC('contact_id').notNull(),
    sealed: text('sealed').notNull(),
    below: textC('below').notNull(),
    isThrough: boolean('is_through').notNull().default(false),
    waiting: text('waiting').array().notNull().default([]),
    nextAt: moment('next_at').notNull(),
  },
  (t) => [
    index('erasures_by_next').on(t.nextAt),
    // An attempt whose contact is missing looks here for an erasure, which lasts as long as an email to the
    // person is open.
    index('erasures_by_contact').on(t.contactId),
  ],
);
