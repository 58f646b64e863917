import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  date,
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
 * Actors: the domains that live email is sent from, shared by both environments of a workspace. Removed
 * domains stay, so that an email that comes due later gets the reason for its failure.
 */
export const domains = pgTable(
  'domains',
  {
    ...actorColumns(['pending', 'verified', 'failed', 'temporaryFailure', 'removed']),
    name: textC('name').notNull(),
    returnPath: text('return_path').notNull(),
    trackingDomain: text('tracking_domain'),
  },
  (t) => [
    refersTo(t.workspaceId, workspaces.id),
    oneOf(t.state),
    // A name has one domain that is not removed, and a live send looks it up here.
    uniqueIndex('domains_by_name').on(t.workspaceId, t.name).where(sql`${t.state} <> 'removed'`),
    index('domains_by_workspace')
      .on(t.workspaceId, t.id.desc().nullsFirst())
      .where(sql`${t.state} <> 'removed'`),
    // Mail to dmarc@ and tlsrpt@ names the host alone.
    index('domains_by_host').on(t.name).where(sql`${t.state} <> 'removed'`),
    index('domains_by_return_path').on(t.returnPath).where(sql`${t.state} <> 'removed'`),
    index('domains_by_wake_at').on(t.wakeAt).where(sql`${t.wakeAt} is not null`),
  ],
);

export const domainJournal = journal('domain_journal');

/**
 * The sets of DKIM keys of a domain: the one that signs, the one whose records are awaited, and retired
 * ones. `rsa` and `ed25519` are the sealed private keys. They are apart from the domain, so that no
 * snapshot and no list holds them. Those of a retired set are destroyed; the names of its records stay
 * visible until these may be removed from DNS.
 */
export const domainKeys = pgTable(
  'domain_keys',
  {
    domainId: textC('domain_id').notNull(),
    selector: text('selector').notNull(),
    stage: text('stage', { enum: ['active', 'pending', 'retired'] }).notNull(),
    since: moment('since').notNull(),
    rsaValue: text('rsa_value').notNull(),
    ed25519Value: text('ed25519_value').notNull(),
    rsa: text('rsa'),
    ed25519: text('ed25519'),
  },
  (t) => [
    keyOf(t.domainId, t.selector),
    oneOf(t.stage),
    check('domain_keys_check', sql`(${t.stage} = 'retired') = (${t.rsa} is null and ${t.ed25519} is null)`),
  ],
);

/**
 * The transport of a domain, where its owner has chosen one; null is the default. It is apart from the
 * domain, since a commit writes an actor's row once, with its snapshot.
 */
export const domainTransports = pgTable(
  'domain_transports',
  {
    domainId: textC('domain_id').primaryKey(),
    provider: text('provider', { enum: ['capture', 'smtp', 'direct', 'ses'] }),
    /** The transports that take over, in this order, while the chosen one is down. */
    fallbacks: text('fallbacks').array().notNull().default([]),
    /** The warm-ups, one for each transport: a list of {"provider", "startedAt", "perDay"}. */
    warmUps: json('warm_ups').notNull().default([]),
  },
  (t) => [
    oneOf(t.provider),
    check('domain_transports_fallbacks_check', sql`${t.fallbacks} <@ array['smtp', 'direct', 'ses']`),
  ],
);

/**
 * The claimed part of a day's allowance (UTC), of which campaigns may claim a share. Instances claim in
 * blocks; `granted` is the result of the last claim. An instance returns unused claims when it stops; a
 * crash loses them for the day.
 */
export const warmUpDays = pgTable(
  'warm_up_days',
  {
    domainId: textC('domain_id').notNull(),
    provider: text('provider', { enum: ['smtp', 'direct', 'ses'] }).notNull(),
    day: date('day').notNull(),
    claimed: integer('claimed').notNull(),
    claimedBulk: integer('claimed_bulk').notNull(),
    granted: integer('granted').notNull(),
  },
  (t) => [keyOf(t.domainId, t.provider, t.day), oneOf(t.provider)],
);

/** The aggregate reports that counted, so that each counts once for a domain and reporter. */
export const aggregateReports = pgTable(
  'aggregate_reports',
  {
    domainId: textC('domain_id').notNull(),
    kind: text('kind', { enum: ['dmarc', 'tls'] }).notNull(),
    /** The domain of its sender, which SPF or DKIM has proven. */
    reporter: textC('reporter').notNull(),
    reportId: textC('report_id').notNull(),
    /** The day in the middle of its period (UTC). */
    day: date('day').notNull(),
    receivedAt: moment('received_at').notNull(),
    /** Messages, or sessions, that it counts for the domain. */
    messages: bigint('messages', { mode: 'number' }).notNull(),
    /** The policy that the reporter saw; null in TLS reports. */
    policy: text('policy'),
  },
  (t) => [
    keyOf(t.domainId, t.kind, t.reporter, t.reportId),
    oneOf(t.kind),
    index('aggregate_reports_by_receipt').on(t.receivedAt),
    index('aggregate_reports_of_domain').on(t.domainId, t.receivedAt),
  ],
);

/** The sums of DMARC reports. Beyond the most rows of a day, `source` is empty. */
export const dmarcSums = pgTable(
  'dmarc_sums',
  {
    domainId: textC('domain_id').notNull(),
    day: date('day').notNull(),
    source: textC('source').notNull(),
    isDkimAligned: boolean('is_dkim_aligned').notNull(),
    isSpfAligned: boolean('is_spf_aligned').notNull(),
    disposition: text('disposition', { enum: ['none', 'quarantine', 'reject'] }).notNull(),
    messages: bigint('messages', { mode: 'number' }).notNull(),
  },
  (t) => [
    keyOf(t.domainId, t.day, t.source, t.isDkimAligned, t.isSpfAligned, t.disposition),
    oneOf(t.disposition),
    index('dmarc_sums_by_day').on(t.day),
  ],
);

/** The sums of TLS reports: successful sessions, and failed ones by the type of the failure. */
export const tlsSums = pgTable(
  'tls_sums',
  {
    domainId: textC('domain_id').notNull(),
    day: date('day').notNull(),
    result: text('result').notNull(),
    sessions: bigint('sessions', { mode: 'number' }).notNull(),
  },
  (t) => [keyOf(t.domainId, t.day, t.result), index('tls_sums_by_day').on(t.day)],
);

/** Reports that count for nothing: of senders that nothing proves, about other domains, or beyond a limit. */
export const unverifiedReports = pgTable(
  'unverified_reports',
  {
    domainId: textC('domain_id').notNull(),
    /** The day of receipt (UTC). */
    day: date('day').notNull(),
    reports: integer('reports').notNull(),
  },
  (t) => [keyOf(t.domainId, t.day), index('unverified_reports_by_day').on(t.day)],
);
