import { bigint, boolean, index, integer, json, pgTable, smallint, text, unique } from 'drizzle-orm/pg-core';
import { keyOf, moment, oneOf, refersTo, textC } from './columns.ts';
import { workspaces } from './workspaces.ts';

/**
 * People. An account is a member of each workspace that invited it. `totp` is sealed. `totp_step` is the
 * time step of the last accepted code, so that no code is accepted twice (RFC 6238, 5.2).
 */
export const accounts = pgTable('accounts', {
  id: textC('id').primaryKey(),
  email: text('email').notNull(),
  emailKey: text('email_key').notNull().unique('accounts_email_key_key'),
  name: text('name').notNull(),
  password: text('password'),
  totp: text('totp'),
  totpConfirmedAt: moment('totp_confirmed_at'),
  totpStep: bigint('totp_step', { mode: 'number' }).notNull().default(0),
  createdAt: moment('created_at').notNull(),
  /** The time step of the last repeated code, so that its owner gets one warning. */
  totpTold: bigint('totp_told', { mode: 'number' }).notNull().default(0),
});

export const members = pgTable(
  'members',
  {
    id: textC('id').primaryKey(),
    workspaceId: textC('workspace_id').notNull(),
    accountId: textC('account_id').notNull(),
    role: text('role', { enum: ['owner', 'admin', 'member', 'viewer'] }).notNull(),
    joinedAt: moment('joined_at').notNull(),
    lastSeenAt: moment('last_seen_at'),
    /** The language that the member has chosen for emails of the service; null leaves it to the workspace. */
    language: text('language'),
  },
  (t) => [
    unique('members_workspace_id_account_id_key').on(t.workspaceId, t.accountId),
    refersTo(t.accountId, accounts.id),
    refersTo(t.workspaceId, workspaces.id),
    oneOf(t.role),
    index('members_by_account').on(t.accountId),
  ],
);

/** Links that make a person a member. Only their hashes are stored. */
export const invitations = pgTable(
  'invitations',
  {
    id: textC('id').primaryKey(),
    workspaceId: textC('workspace_id').notNull(),
    email: text('email').notNull(),
    emailKey: text('email_key').notNull(),
    role: text('role', { enum: ['owner', 'admin', 'member', 'viewer'] }).notNull(),
    invitedBy: text('invited_by').notNull(),
    hash: textC('hash').notNull().unique('invitations_hash_key'),
    expiresAt: moment('expires_at').notNull(),
    acceptedAt: moment('accepted_at'),
    /**
     * The language that the inviter has chosen, which the member starts with; null leaves it to the
     * workspace.
     */
    language: text('language'),
  },
  (t) => [
    refersTo(t.workspaceId, workspaces.id),
    oneOf(t.role),
    index('invitations_by_workspace').on(t.workspaceId, t.id.desc().nullsFirst()),
  ],
);

/**
 * The sessions of browsers. Only hashes of the cookies are stored. A session ends when its row is deleted.
 */
export const browserSessions = pgTable(
  'browser_sessions',
  {
    id: textC('id').primaryKey(),
    hash: textC('hash').notNull().unique('browser_sessions_hash_key'),
    kind: text('kind', { enum: ['key', 'operatorLink', 'account'] }).notNull(),
    subjectId: textC('subject_id').notNull(),
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    userAgent: text('user_agent').notNull(),
    client: text('client').notNull(),
    seenAt: moment('seen_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
  },
  (t) => [
    refersTo(t.workspaceId, workspaces.id),
    oneOf(t.kind),
    index('browser_sessions_by_subject').on(t.subjectId),
    index('browser_sessions_by_end').on(t.expiresAt),
  ],
);

/** Filters of a list that a member has saved under a name, as the part of the address behind `?`. */
export const savedViews = pgTable(
  'saved_views',
  {
    id: textC('id').primaryKey(),
    workspaceId: textC('workspace_id').notNull(),
    accountId: textC('account_id').notNull(),
    page: textC('page').notNull(),
    name: text('name').notNull(),
    search: text('search').notNull(),
  },
  (t) => [
    unique('saved_views_name_key').on(t.workspaceId, t.accountId, t.page, t.name),
    refersTo(t.workspaceId, workspaces.id),
    refersTo(t.accountId, accounts.id),
    index('saved_views_by_account').on(t.accountId),
  ],
);

/** Unsaved changes of a member in an editor. */
export const editorDrafts = pgTable(
  'editor_drafts',
  {
    workspaceId: textC('workspace_id').notNull(),
    accountId: textC('account_id').notNull(),
    /** The page that it was typed on, and its place there. */
    key: textC('key').notNull(),
    /** The environment and the resource: `live/campaigns/cmp_1`. */
    place: textC('place').notNull(),
    /** The `updatedAt` of the resource that it was written upon. */
    basedOn: text('based_on').notNull(),
    /** The changed members, and the sums of what they were before, as JSON. */
    changed: text('changed').notNull(),
    sums: text('sums').notNull(),
    keptAt: moment('kept_at').notNull(),
  },
  (t) => [
    keyOf(t.workspaceId, t.accountId, t.key),
    refersTo(t.workspaceId, workspaces.id),
    refersTo(t.accountId, accounts.id),
    index('editor_drafts_by_account').on(t.accountId),
    index('editor_drafts_by_place').on(t.workspaceId, t.place),
    index('editor_drafts_by_age').on(t.keptAt),
  ],
);

export const passkeys = pgTable(
  'passkeys',
  {
    id: textC('id').primaryKey(),
    credential: textC('credential').notNull().unique('passkeys_credential_key'),
    accountId: textC('account_id').notNull(),
    name: text('name').notNull(),
    publicKey: text('public_key').notNull(),
    counter: bigint('counter', { mode: 'number' }).notNull(),
    transports: json('transports').notNull(),
    lastUsedAt: moment('last_used_at'),
  },
  (t) => [refersTo(t.accountId, accounts.id), index('passkeys_by_account').on(t.accountId)],
);

/** Codes that replace a lost second factor, each once. Only hashes are stored. */
export const recoveryCodes = pgTable(
  'recovery_codes',
  {
    accountId: textC('account_id').notNull(),
    hash: textC('hash').notNull(),
    usedAt: moment('used_at'),
  },
  (t) => [keyOf(t.accountId, t.hash), refersTo(t.accountId, accounts.id)],
);

/** Actions of members, keys and the operator. The names are copies, since members and keys may be deleted. */
export const auditLog = pgTable(
  'audit_log',
  {
    id: textC('id').primaryKey(),
    workspaceId: textC('workspace_id').notNull(),
    actorType: text('actor_type', { enum: ['member', 'apiKey', 'operator', 'system'] }).notNull(),
    actorId: textC('actor_id'),
    actorName: text('actor_name'),
    action: textC('action').notNull(),
    targetId: text('target_id'),
    details: json('details').notNull(),
    /** The id of the request, as in its answer and in the service's log. Null for the command line. */
    requestId: textC('request_id'),
  },
  (t) => [oneOf(t.actorType), index('audit_log_by_workspace').on(t.workspaceId, t.id.desc().nullsFirst())],
);

/**
 * The requests of API keys, without bodies, queries and headers. `path` is the route with the ids of the
 * request in it. It names no other table: requests are written in batches after their answers, and a key may
 * be gone by then.
 */
export const apiRequests = pgTable(
  'api_requests',
  {
    /** The `x-request-id` of the answer. */
    id: textC('id').primaryKey(),
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    apiKeyId: textC('api_key_id').notNull(),
    method: text('method').notNull(),
    route: text('route').notNull(),
    path: text('path').notNull(),
    status: smallint('status').notNull(),
    durationMs: integer('duration_ms').notNull(),
    /** Null unless the request was refused. */
    errorCode: text('error_code'),
  },
  (t) => [
    index('api_requests_by_workspace').on(t.workspaceId, t.livemode, t.id.desc().nullsFirst()),
    index('api_requests_by_key').on(t.apiKeyId, t.id.desc().nullsFirst()),
  ],
);

/** Tokens that sign a person in once, such as a printed link. Only their hashes are stored. */
export const oneTimeTokens = pgTable(
  'one_time_tokens',
  {
    hash: textC('hash').primaryKey(),
    purpose: text('purpose').notNull(),
    subject: json('subject').notNull(),
    expiresAt: moment('expires_at').notNull(),
    usedAt: moment('used_at'),
  },
  (t) => [index('one_time_tokens_by_end').on(t.expiresAt)],
);
