import { sql } from 'drizzle-orm';
import { boolean, check, index, integer, json, pgTable, smallint, text } from 'drizzle-orm/pg-core';
import { actorColumns, journal, keyOf, moment, octets, oneOf, textC } from './columns.ts';

/**
 * The routes of received mail: the addresses of a domain that take mail, each with its action. The name of a
 * domain never changes, and RCPT looks its routes up by it. `sealed` is the secret of the webhook.
 */
export const inboundRoutes = pgTable(
  'inbound_routes',
  {
    id: textC('id').primaryKey(),
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    domainId: textC('domain_id').notNull(),
    domainName: textC('domain_name').notNull(),
    matchType: text('match_type', { enum: ['exact', 'prefix', 'catchAll'] }).notNull(),
    localPart: text('local_part'),
    priority: integer('priority').notNull(),
    action: text('action', { enum: ['webhook', 'forward', 'keep'] }).notNull(),
    url: text('url'),
    /** The targets of a forward; null for every other action. */
    forwardTo: text('forward_to').array(),
    spam: text('spam', { enum: ['mark', 'refuse'] }).notNull(),
    sealed: text('sealed'),
    secretPrefix: text('secret_prefix'),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
  },
  (t) => [
    oneOf(t.matchType),
    oneOf(t.action),
    oneOf(t.spam),
    check('inbound_routes_match_check', sql`(${t.matchType} = 'catchAll') = (${t.localPart} is null)`),
    check(
      'inbound_routes_target_check',
      sql`(${t.action} = 'webhook') = (${t.url} is not null and ${t.sealed} is not null)`,
    ),
    index('inbound_routes_by_domain').on(t.domainName, t.livemode),
    index('inbound_routes_by_workspace').on(t.workspaceId, t.livemode, t.id.desc().nullsFirst()),
  ],
);

/**
 * Actors: a received message for one recipient. `address_keys` holds the addresses of its envelope, in the
 * form in which addresses are compared; `summary` is what a list shows of it, of which a large message has
 * the rest in its content.
 */
export const received = pgTable(
  'received',
  {
    ...actorColumns(['stored', 'posting', 'retrying', 'posted', 'forwarded', 'kept', 'failed']),
    routeId: textC('route_id').notNull(),
    contentId: textC('content_id').notNull(),
    envelopeFrom: text('envelope_from').notNull(),
    recipient: text('recipient').notNull(),
    tag: text('tag'),
    threadId: textC('thread_id').notNull(),
    /** The email of this service that it answers, and that email's contact, campaign and run of a flow. */
    emailId: textC('email_id'),
    contactId: textC('contact_id'),
    campaignId: textC('campaign_id'),
    flowRunId: textC('flow_run_id'),
    isAutomatic: boolean('is_automatic').notNull(),
    addressKeys: text('address_keys').array().notNull(),
    summary: json('summary').notNull(),
    /** `StoredAuthentication`, and the verdict of the spam filter; null where they were not asked for. */
    authentication: json('authentication'),
    spam: json('spam'),
    size: integer('size').notNull(),
  },
  (t) => [
    oneOf(t.state),
    index('received_by_workspace').on(t.workspaceId, t.livemode, t.id.desc().nullsFirst()),
    index('received_by_thread').on(t.workspaceId, t.livemode, t.threadId, t.id.desc().nullsFirst()),
    index('received_by_route').on(t.workspaceId, t.livemode, t.routeId, t.id.desc().nullsFirst()),
    index('received_by_email')
      .on(t.workspaceId, t.livemode, t.emailId, t.id.desc().nullsFirst())
      .where(sql`${t.emailId} is not null`),
    // A forgotten person takes the replies along, which may have come from another address.
    index('received_by_contact').on(t.contactId).where(sql`${t.contactId} is not null`),
    index('received_by_address').using('gin', t.addressKeys),
    index('received_by_content').on(t.contentId),
    index('received_by_wake_at').on(t.wakeAt).where(sql`${t.wakeAt} is not null`),
  ],
);

export const receivedJournal = journal('received_journal');

/**
 * The messages, one row for all recipients of a workspace: `parsed` is what readers see of it, packed; `raw`
 * the octets, packed, or `raw_key` their place in the body store; `address_keys` every address that its
 * envelope and header name.
 */
export const receivedContents = pgTable(
  'received_contents',
  {
    id: textC('id').primaryKey(),
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    parsed: octets('parsed').notNull(),
    raw: octets('raw'),
    rawKey: textC('raw_key'),
    addressKeys: text('address_keys').array().notNull().default(sql`'{}'`),
  },
  (t) => [
    check('received_contents_raw_check', sql`(${t.raw} is null) = (${t.rawKey} is not null)`),
    index('received_contents_by_workspace').on(t.workspaceId, t.livemode, t.id),
    index('received_contents_by_address').using('gin', t.addressKeys),
    index('received_contents_by_key').on(t.workspaceId, t.rawKey).where(sql`${t.rawKey} is not null`),
  ],
);

/** The outcome of each attempt to post a received message; written once. */
export const receivedAttempts = pgTable(
  'received_attempts',
  {
    receivedId: textC('received_id').notNull(),
    attempt: integer('attempt').notNull(),
    attemptedAt: moment('attempted_at').notNull(),
    httpStatus: smallint('http_status').notNull(),
    responseBody: text('response_body').notNull(),
    durationMs: integer('duration_ms').notNull(),
    error: text('error'),
  },
  (t) => [keyOf(t.receivedId, t.attempt)],
);

/**
 * The emails that answer a received message (`POST /v1/received/{id}/reply`); written with the acceptance of
 * each.
 */
export const receivedAnswers = pgTable(
  'received_answers',
  {
    receivedId: textC('received_id').notNull(),
    emailId: textC('email_id').notNull(),
  },
  (t) => [keyOf(t.receivedId, t.emailId)],
);
