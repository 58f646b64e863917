import {
  boolean,
  date,
  index,
  integer,
  json,
  pgTable,
  smallint,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { keyOf, moment, octets, oneOf, textC } from './columns.ts';

/**
 * Live mail that was captured instead of sent, a row for each recipient. A repeated attempt writes no
 * second row.
 */
export const captured = pgTable(
  'captured',
  {
    id: textC('id').primaryKey(),
    workspaceId: textC('workspace_id').notNull(),
    emailId: textC('email_id').notNull(),
    recipient: text('recipient').notNull(),
    returnPath: text('return_path').notNull(),
    raw: octets('raw').notNull(),
    /** The size of `raw` before the service compressed it; null where it is not compressed. */
    size: integer('size'),
  },
  (t) => [
    unique('captured_email_id_recipient_key').on(t.emailId, t.recipient),
    index('captured_by_workspace').on(t.workspaceId, t.id.desc().nullsFirst()),
  ],
);

/**
 * Addresses that get no more live mail from a workspace. That of a forgotten person is null, and its key a
 * keyed hash.
 */
export const suppressions = pgTable(
  'suppressions',
  {
    workspaceId: textC('workspace_id').notNull(),
    addressKey: textC('address_key').notNull(),
    address: text('address'),
    reason: text('reason', { enum: ['bounced', 'complained', 'unsubscribed', 'manual'] }).notNull(),
    emailId: textC('email_id'),
    createdAt: moment('created_at').notNull(),
    // Acts of the person that stay when the reason is removed. Null where the reason is this act.
    unsubscribedAt: moment('unsubscribed_at'),
    complainedAt: moment('complained_at'),
  },
  (t) => [
    keyOf(t.workspaceId, t.addressKey),
    oneOf(t.reason),
    index('suppressions_by_age').on(
      t.workspaceId,
      t.createdAt.desc().nullsFirst(),
      t.addressKey.desc().nullsFirst(),
    ),
  ],
);

/** Removed suppressions that Amazon SES has not heard of yet; the addresses are sealed. */
export const sesRemovals = pgTable(
  'ses_removals',
  {
    id: textC('id').primaryKey(),
    sealed: text('sealed').notNull(),
    attempts: integer('attempts').notNull(),
    nextAt: moment('next_at').notNull(),
  },
  (t) => [index('ses_removals_by_next').on(t.nextAt)],
);

/**
 * Opens and clicks in the first minute of an email that has several links, until it is known whether they
 * come from a scanner, which opens all links at once. `links` is the number of links, three for more. A
 * judged row classifies its network for a while.
 */
export const earlyVisits = pgTable(
  'early_visits',
  {
    id: textC('id').primaryKey(),
    emailId: textC('email_id').notNull(),
    recipient: integer('recipient').notNull(),
    type: text('type', { enum: ['opened', 'clicked'] }).notNull(),
    target: text('target').notNull(),
    links: smallint('links').notNull(),
    network: text('network').notNull(),
    userAgent: text('user_agent'),
    seenAt: moment('seen_at').notNull(),
    claimedAt: moment('claimed_at'),
    isScanner: boolean('is_scanner'),
  },
  (t) => [
    oneOf(t.type),
    index('early_visits_by_email').on(t.emailId, t.recipient),
    index('early_visits_by_time').on(t.seenAt),
  ],
);

/**
 * The bodies in the object store (BODY_STORE), a row for each email that has one. A key begins with
 * environment, day and workspace, so that those of a workspace on a day are a range of this one. A row
 * whose email has been removed stays until its body is collected.
 */
export const emailBodies = pgTable(
  'email_bodies',
  {
    workspaceId: textC('workspace_id').notNull(),
    key: textC('key').notNull(),
    emailId: textC('email_id').notNull(),
  },
  (t) => [keyOf(t.workspaceId, t.key, t.emailId)],
);

/** The finished days whose bodies were compared with the emails. */
export const bodyCollections = pgTable(
  'body_collections',
  {
    livemode: boolean('livemode').notNull(),
    day: date('day').notNull(),
  },
  (t) => [keyOf(t.livemode, t.day)],
);

/**
 * The name by which the object store knows this database, and the store in which its bodies are; null before
 * the first collection.
 */
export const bodyStoreOwner = pgTable('body_store_owner', {
  id: textC('id').primaryKey(),
  place: text('place'),
});

/**
 * The limits that servers have shown: connections at once, mails a session, recipients a mail, mails a
 * minute, octets a mail. Each has its value, the time of its last confirmation (epoch milliseconds) and the
 * time for which it holds before more is tried. All instances share them, and a restart keeps them; a limit
 * is deleted a week after its last confirmation.
 */
export const learnedLimits = pgTable(
  'learned_limits',
  {
    transport: text('transport', { enum: ['smtp', 'direct'] }).notNull(),
    server: textC('server').notNull(),
    limits: json('limits').notNull(),
    changedAt: moment('changed_at').notNull(),
  },
  (t) => [keyOf(t.transport, t.server), oneOf(t.transport)],
);

/**
 * The Message-IDs that clients have chosen. Each is taken for ninety days, so that a reply or a bounce can be
 * told by it.
 */
export const messageIds = pgTable(
  'message_ids',
  {
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    messageId: textC('message_id').notNull(),
    emailId: textC('email_id').notNull(),
    until: moment('until').notNull(),
  },
  (t) => [keyOf(t.workspaceId, t.livemode, t.messageId), index('message_ids_by_until').on(t.until)],
);

/**
 * The Message-IDs with which copies left that were not made of the id of their email: of raw messages, and
 * those that SES writes. `key` is a hash of the Message-ID and of one recipient, so that a row tells neither,
 * and the last email of both is the one that a reply answers.
 */
export const sentMessageIds = pgTable(
  'sent_message_ids',
  {
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    key: uuid('key').notNull(),
    emailId: textC('email_id').notNull(),
    until: moment('until').notNull(),
  },
  (t) => [keyOf(t.workspaceId, t.livemode, t.key), index('sent_message_ids_by_until').on(t.until)],
);

/**
 * The reports that a client has asked for by SMTP (NOTIFY of RFC 3461), a row for each recipient until what
 * becomes of the email has been told. Written with the email, so that a crash loses none. Once its success
 * was told, a failure may still come.
 */
export const reportRequests = pgTable(
  'report_requests',
  {
    workspaceId: textC('workspace_id').notNull(),
    emailId: textC('email_id').notNull(),
    recipient: integer('recipient').notNull(),
    askedAt: moment('asked_at').notNull(),
    attempts: integer('attempts').notNull().default(0),
    nextAt: moment('next_at').notNull(),
    isSuccessTold: boolean('is_success_told').notNull().default(false),
  },
  (t) => [
    keyOf(t.emailId, t.recipient),
    index('report_requests_by_next').on(t.nextAt),
    index('report_requests_by_workspace').on(t.workspaceId, t.nextAt),
  ],
);
