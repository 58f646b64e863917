import { sql } from 'drizzle-orm';
import { boolean, check, index, integer, json, pgTable, smallint, text } from 'drizzle-orm/pg-core';
import { keyOf, moment, oneOf, textC } from './columns.ts';

/**
 * The instances that execute new actors without a row in `email_due`, each with a heartbeat and the id
 * below which all its actors have had a turn. An instance that finds another one dead closes it and leaves
 * its actors without a turn to the clock. `open` is part of the key, so that closing waits for statements
 * that have locked the row as a foreign key would.
 */
export const instances = pgTable(
  'instances',
  {
    id: integer('id').notNull(),
    kind: text('kind').notNull(),
    open: boolean('open').notNull(),
    heartbeatAt: moment('heartbeat_at').notNull(),
    lowWater: textC('low_water').notNull(),
  },
  (t) => [keyOf(t.id, t.open)],
);

/**
 * The processes of the service on this database, each with the roles that it has, written again every ten
 * seconds while it lives. An instance reads it to leave work to others; nothing else depends on it.
 */
export const serviceInstances = pgTable('service_instances', {
  id: textC('id').primaryKey(),
  roles: text('roles').array().notNull(),
  seenAt: moment('seen_at').notNull(),
  /**
   * The secret keys that the instance can open texts with, and the one that it seals with: a rotation waits
   * for all live instances.
   */
  secretKeys: text('secret_keys').array(),
  sealsWith: textC('seals_with'),
  /** The version of the instance, and the time of its start. */
  version: textC('version'),
  startedAt: moment('started_at'),
  /**
   * The number under which a session of the instance holds an advisory lock. Null where it has no such
   * session, and once another instance has found the lock free (`src/engine/presence.ts`).
   */
  epoch: integer('epoch'),
});

/**
 * The last time at which the service ran, by a trusted clock: a start far from it removes nothing at first.
 */
export const lastRun = pgTable(
  'last_run',
  {
    one: boolean('one').primaryKey().default(true),
    at: moment('at').notNull(),
  },
  (t) => [check('last_run_one_check', sql`${t.one}`)],
);

/**
 * The time before which data of an environment has been removed, or is about to be. It never goes back: a
 * longer setting restores nothing.
 */
export const retention = pgTable('retention', {
  livemode: boolean('livemode').primaryKey(),
  removedBefore: moment('removed_before').notNull(),
});

/** A text sealed with SECRET_KEY at the first start: a start with another key fails to open it and stops. */
export const secretKeyCanary = pgTable(
  'secret_key_canary',
  {
    one: boolean('one').primaryKey().default(true),
    sealed: text('sealed').notNull(),
  },
  (t) => [check('secret_key_canary_one_check', sql`${t.one}`)],
);

/**
 * Keys that this database was used with before the one of its canary, each sealed with the key that came
 * after it, or with a later one. They open texts that are still sealed with them, and verify the links of
 * earlier emails; the first one hashes the addresses of forgotten people. The rotation of a key ends at
 * `resealed_at`, when nothing sealed with it is left.
 */
export const formerSecretKeys = pgTable('former_secret_keys', {
  id: textC('id').primaryKey(),
  sealed: text('sealed').notNull(),
  replacedAt: moment('replaced_at').notNull(),
  resealedAt: moment('resealed_at'),
  linksRevokedAt: moment('links_revoked_at'),
});

/**
 * The certificate for HTTPS of each host and directory of an authority, with what its order needs (RFC
 * 8555). All instances share it: the holder of the lease orders, the others use the result. Keys are sealed
 * with SECRET_KEY.
 */
export const acmeCertificates = pgTable(
  'acme_certificates',
  {
    directoryUrl: textC('directory_url').notNull(),
    host: textC('host').notNull(),
    accountKey: text('account_key'),
    accountUrl: text('account_url'),
    /** The order under way and the key of its certificate, so that another process can continue it. */
    orderUrl: text('order_url'),
    orderKey: text('order_key'),
    /** The answer of any instance to the authority's HTTP-01 request. */
    challengeToken: text('challenge_token'),
    challengeAnswer: text('challenge_answer'),
    certificate: text('certificate'),
    certificateKey: text('certificate_key'),
    notBefore: moment('not_before'),
    notAfter: moment('not_after'),
    leasedBy: text('leased_by'),
    leasedUntil: moment('leased_until'),
    failures: integer('failures').notNull().default(0),
    lastError: text('last_error'),
    nextTryAt: moment('next_try_at'),
  },
  (t) => [keyOf(t.directoryUrl, t.host)],
);

/** Events from actor to actor: written in the sender's commit, deleted in the receiver's. */
export const actorOutbox = pgTable('actor_outbox', {
  id: textC('id').primaryKey(),
  toKind: text('to_kind').notNull(),
  toId: textC('to_id').notNull(),
  event: json('event').notNull(),
});

/**
 * Replies to requests that may be repeated, written in the statement that performs the action. `reply` is
 * the stored body, sealed where it holds a secret. A call for several items has a row for each: `item`
 * numbers them, and -1 is the call itself.
 */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    key: textC('key').notNull(),
    fingerprint: text('fingerprint').notNull(),
    status: smallint('status').notNull(),
    reply: text('reply').notNull(),
    createdAt: moment('created_at').notNull(),
    item: smallint('item').notNull().default(-1),
  },
  (t) => [keyOf(t.workspaceId, t.livemode, t.key, t.item), index('idempotency_keys_by_age').on(t.createdAt)],
);

/**
 * Emails of the service itself on their way out: to people who use it, not to recipients of a workspace.
 * They are apart from `emails`, whose readers must not see the links in them, and count against no quota.
 * `sealed` holds the address and the content.
 */
export const serviceEmails = pgTable(
  'service_emails',
  {
    id: textC('id').primaryKey(),
    workspaceId: textC('workspace_id'),
    sealed: text('sealed').notNull(),
    attempts: integer('attempts').notNull().default(0),
    nextAt: moment('next_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
  },
  (t) => [index('service_emails_by_next').on(t.nextAt)],
);

/**
 * The number of invitations to an address, by its hash, over all workspaces, since a time less than a day
 * ago.
 */
export const serviceEmailReaders = pgTable('service_email_readers', {
  reader: textC('reader').primaryKey(),
  since: moment('since').notNull(),
  mails: integer('mails').notNull(),
});

/**
 * The last revision of an actor about which the admins of its workspace were warned, so that they get one
 * warning, also after a crash between the event and the email.
 */
export const serviceWarnings = pgTable('service_warnings', {
  actorId: textC('actor_id').primaryKey(),
  workspaceId: textC('workspace_id').notNull(),
  revision: integer('revision').notNull(),
});

/**
 * The environments that an open page watches through an instance, until `until`. The rows are worthless a
 * minute later, so the table is unlogged: a crash of the database may lose it, and no standby and no
 * archive carries it.
 */
export const liveWatches = pgTable(
  'live_watches',
  {
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    instanceId: textC('instance_id').notNull(),
    since: moment('since').notNull(),
    until: moment('until').notNull(),
  },
  (t) => [keyOf(t.workspaceId, t.livemode, t.instanceId)],
);

/** The changes that other instances report to the watching one. Unlogged, as `live_watches`. */
export const liveNews = pgTable(
  'live_news',
  {
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    instanceId: textC('instance_id').notNull(),
    number: integer('number').notNull(),
    at: moment('at').notNull(),
    news: json('news').notNull(),
  },
  (t) => [keyOf(t.workspaceId, t.livemode, t.instanceId, t.number)],
);

/**
 * Clocks of the test environment: the actors of one wait by it, and not by the real time. `now_at` is its
 * time; while it is `advancing`, the holder of the lease executes everything due up to `target_at`.
 */
export const testClocks = pgTable(
  'test_clocks',
  {
    workspaceId: textC('workspace_id').notNull(),
    id: textC('id').notNull(),
    name: text('name').notNull(),
    status: text('status', { enum: ['ready', 'advancing'] }).notNull(),
    nowAt: moment('now_at').notNull(),
    targetAt: moment('target_at').notNull(),
    /** All emails that were ever accepted for it. */
    emails: integer('emails').notNull().default(0),
    /**
     * The time of the latest acceptance: for a while after it the clock looks for emails that have not
     * begun.
     */
    enteredAt: moment('entered_at'),
    leasedBy: text('leased_by'),
    leasedUntil: moment('leased_until'),
    /** All contacts that were created for it, and all runs that began by it. */
    contacts: integer('contacts').notNull().default(0),
    runs: integer('runs').notNull().default(0),
    /**
     * The runs beyond the thousand that a clock takes, counted here since there is no request to refuse
     * when a run would begin.
     */
    runsRefused: integer('runs_refused').notNull().default(0),
  },
  (t) => [
    keyOf(t.workspaceId, t.id),
    oneOf(t.status),
    index('test_clocks_at_work').on(t.id).where(sql`${t.status} = 'advancing' or ${t.enteredAt} is not null`),
  ],
);

/** Contacts that were created with the header of a test clock, which follows their activity. */
export const testClockContacts = pgTable(
  'test_clock_contacts',
  {
    contactId: textC('contact_id').primaryKey(),
    testClockId: textC('test_clock_id').notNull(),
  },
  (t) => [index('test_clock_contacts_by_clock').on(t.testClockId)],
);
