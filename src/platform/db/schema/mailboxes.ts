import { bigint, boolean, index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { keyOf, moment, oneOf, textC } from './columns.ts';

/**
 * Mailboxes that are read by IMAP. `sealed` is the password. `uid_validity` and `last_uid` are the place up
 * to which a mailbox is read, from `begun_at` on; after a change of the former, messages that the server got
 * before `since` are old ones. One reader holds a mailbox until `held_until`.
 */
export const mailboxes = pgTable(
  'mailboxes',
  {
    id: textC('id').primaryKey(),
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    host: text('host').notNull(),
    port: integer('port').notNull(),
    security: text('security', { enum: ['tls', 'starttls'] }).notNull(),
    username: text('username').notNull(),
    folder: text('folder').notNull(),
    sealed: text('sealed').notNull(),
    isPaused: boolean('is_paused').notNull(),
    state: text('state', { enum: ['waiting', 'connected', 'failing'] }).notNull(),
    problem: text('problem'),
    stateAt: moment('state_at').notNull(),
    failures: integer('failures').notNull(),
    nextAt: moment('next_at').notNull(),
    holder: text('holder'),
    heldUntil: moment('held_until'),
    uidValidity: bigint('uid_validity', { mode: 'number' }),
    lastUid: bigint('last_uid', { mode: 'number' }).notNull(),
    begunAt: moment('begun_at'),
    since: moment('since'),
    taken: bigint('taken', { mode: 'number' }).notNull(),
    skipped: bigint('skipped', { mode: 'number' }).notNull(),
    lastTakenAt: moment('last_taken_at'),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
  },
  (t) => [
    oneOf(t.security),
    oneOf(t.state),
    index('mailboxes_by_workspace').on(t.workspaceId, t.livemode, t.id.desc().nullsFirst()),
  ],
);

/**
 * The fingerprints of the messages that were read of a mailbox: after a change of its UIDs each is still read
 * once.
 */
export const mailboxMessages = pgTable(
  'mailbox_messages',
  {
    mailboxId: textC('mailbox_id').notNull(),
    digest: textC('digest').notNull(),
    readAt: moment('read_at').notNull(),
  },
  (t) => [keyOf(t.mailboxId, t.digest), index('mailbox_messages_by_age').on(t.readAt)],
);
