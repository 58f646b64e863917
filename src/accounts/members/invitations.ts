import { createHash, randomBytes } from 'node:crypto';
import { and, desc, eq } from 'drizzle-orm';
import type { Principal } from '../../http/auth/principal.ts';
import { ROLE_NAMES, ROLES } from '../../http/auth/roles.ts';
import type { RequestLog } from '../../http/log.ts';
import { idempotently, keyedBy } from '../../http/request/idempotent.ts';
import type { Call, Replay } from '../../http/request/route.ts';
import type { Sealer } from '../../platform/crypto/sealer.ts';
import { type Database, PREPARED } from '../../platform/db/database.ts';
import { mintId, timeOfId } from '../../platform/db/ids.ts';
import { invitations } from '../../platform/db/schema/accounts.ts';
import { workspaces } from '../../platform/db/schema/workspaces.ts';
import { isDuplicate } from '../../platform/db/sqlstate.ts';
import { keepReplySql, replyParameters } from '../../platform/db/stored-replies.ts';
import { Failure, invalidAt, notFound } from '../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../platform/text/address.ts';
import { languageOfPersonSql, languagesOf } from '../member-language.ts';
import type { SendServiceEmail } from '../service-emails.ts';
import type { NewAccount } from './accounts.ts';
import { beyondOwnRole, chosenLanguage, rolesBelow, testKey } from './members.ts';
import type { InvitationView, NewInvitation } from './model.ts';

/** An invitation is valid for a week. */
const LASTS_MS = 7 * 86_400_000;
/** The most pending invitations of one workspace; one that is void does not count. */
const MOST_PENDING = 100;
const REPLY = 'idempotent reply';

export interface InvitationDeps {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly publicUrl: string;
  /** Mails the link, where mail works; the answer contains it as well. */
  readonly mail: SendServiceEmail;
  readonly log: RequestLog;
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url');
const iso = (at: number): string => new Date(at).toISOString();

/** Each role with those that who has it may grant. */
const GRANTS = ROLE_NAMES.map(
  (role) =>
    `(b.role = '${role}' and i.role = any(string_to_array('${rolesBelow({ permissions: ROLES[role] })}', ',')))`,
).join(' or ');

/**
 * The condition that the row `i` of an invitation is valid: the inviting key or member could still create it.
 * The invitations of a member who is removed or lowered are withdrawn, but a request that is under way then
 * may still write one.
 */
const STANDS = `not exists (
    select from api_keys k where k.id = i.invited_by and (k.state <> 'active' or not (k.context -> 'permissions')::jsonb
      ?| case when i.role = 'owner' then array['*'] else array['*', 'members:write'] end)
  ) and (not starts_with(i.invited_by, 'mem_') or exists (
    select from members b where b.id = i.invited_by and b.workspace_id = i.workspace_id and (${GRANTS})))`;

const CREATE = `with pending as materialized (
  select i.email_key from open_invitations($1, $7::timestamptz) i where ${STANDS}
), invited as (
  insert into invitations (id, workspace_id, email, email_key, role, invited_by, hash, expires_at, language)
  select $8, $1, $9, $10, $11, $12, $13, $14::text::timestamptz, $16
  from (select count(*) as count, count(*) filter (where email_key = $10) as own from pending) p
  where p.count < ${MOST_PENDING} and p.own = 0 and not exists (
    select from members m join accounts a on a.id = m.account_id where m.workspace_id = $1 and a.email_key = $10
  )
  returning id
), kept as (${keepReplySql({ from: 'invited', reply: '$15', first: 1 })})
select id from invited`;

/** Invites a person. Only this answer shows the link. @throws UnavailableError */
export async function invite(
  deps: InvitationDeps,
  call: Call<unknown, unknown, NewInvitation>,
): Promise<(InvitationView & { url: string }) | Failure | Replay> {
  const { database, sealer, publicUrl } = deps;
  const { caller, body, now } = call;
  const address = parseAddress(body.email);
  if (isProblem(address)) return invalidAt('/body/email', address.problem);
  if (address.name !== null) return invalidAt('/body/email', 'Must be an address without a name.');
  const refusal = testKey(caller) ?? beyondOwnRole(caller, body.role);
  if (refusal) return refusal;
  const language = chosenLanguage(body.language ?? null);
  if (language instanceof Failure) return language;
  const token = randomBytes(32).toString('base64url');
  const id = mintId('inv', now);
  const expiresAt = iso(now + LASTS_MS);
  const view = {
    id,
    email: address.address,
    role: body.role,
    invitedBy: caller.id,
    createdAt: iso(timeOfId(id)),
    expiresAt,
    acceptedAt: null,
    ...languagesOf(language, await languageOfWorkspace(database, caller)),
    // The token is in the fragment, which a browser does not send, not even in Referer.
    url: `${publicUrl}/app/invitation#token=${token}`,
  };
  const keyed = keyedBy(call);
  return idempotently(database, keyed, {
    run: async () => {
      const rows = await database.query(CREATE, [
        ...replyParameters(keyed, 201),
        id,
        address.address,
        address.key,
        body.role,
        caller.id,
        hashOf(token),
        expiresAt,
        sealer.seal(JSON.stringify(view), REPLY),
        language,
      ]);
      if (rows.length === 0) return ALREADY;
      await mailTo(deps, call, { ...view, expiresAt: now + LASTS_MS });
      return view;
    },
    open: (reply) => JSON.parse(sealer.open(reply, REPLY)),
  });
}

type InvitationMail = Extract<Parameters<SendServiceEmail>[0], { kind: 'invitation' }>;

async function languageOfWorkspace(
  database: Database,
  { workspaceId }: Pick<Principal, 'workspaceId'>,
): Promise<string | null> {
  const [row] = await database.read((orm) =>
    orm.select({ language: workspaces.language }).from(workspaces).where(eq(workspaces.id, workspaceId)),
  );
  return row?.language ?? null;
}

/** An invitation that cannot be mailed is passed on by its inviter. */
async function mailTo(
  { mail, log }: InvitationDeps,
  { caller: { workspaceId }, requestId }: Pick<Call, 'caller' | 'requestId'>,
  {
    email: to,
    role,
    url,
    expiresAt,
    language,
  }: Omit<InvitationMail, 'kind' | 'to' | 'workspaceId'> & { email: string },
): Promise<void> {
  try {
    await mail({ kind: 'invitation', to, workspaceId, role, url, expiresAt, language });
  } catch (error) {
    log.warn({ requestId, err: error }, 'An invitation could not be mailed');
  }
}

const ALREADY = new Failure(
  'CONFLICT',
  `The person is already a member or invited, or ${MOST_PENDING} invitations are pending.`,
  { suggestion: 'Delete the earlier invitation to create a new link.' },
);

/**
 * The newest hundred invitations of the caller's workspace, accepted and expired ones included. @throws
 * UnavailableError
 */
export async function listInvitations(
  database: Database,
  { workspaceId }: Principal,
): Promise<readonly InvitationView[]> {
  const { id, email, role, invitedBy, expiresAt, acceptedAt, language } = invitations;
  const rows = await database.read(
    (orm) =>
      orm
        .select({
          id,
          email,
          role,
          invitedBy,
          expiresAt,
          acceptedAt,
          language,
          workspaceLanguage: workspaces.language,
        })
        .from(invitations)
        .innerJoin(workspaces, eq(workspaces.id, invitations.workspaceId))
        .where(eq(invitations.workspaceId, workspaceId))
        .orderBy(desc(id))
        .limit(100),
    PREPARED,
  );
  return rows.map(({ workspaceLanguage, ...row }) => ({
    ...row,
    ...languagesOf(row.language, workspaceLanguage),
    createdAt: iso(timeOfId(row.id)),
    expiresAt: row.expiresAt.toISOString(),
    acceptedAt: row.acceptedAt?.toISOString() ?? null,
  }));
}

/** Withdraws an invitation: its link becomes invalid. @throws UnavailableError */
export async function deleteInvitation(
  database: Database,
  caller: Principal,
  id: string,
): Promise<Failure | null> {
  const refusal = testKey(caller);
  const isIt = and(eq(invitations.workspaceId, caller.workspaceId), eq(invitations.id, id));
  const rows = await database.read((orm) =>
    refusal
      ? orm.select({ id: invitations.id }).from(invitations).where(isIt)
      : orm.delete(invitations).where(isIt).returning({ id: invitations.id }),
  );
  return rows.length > 0 ? refusal : notFound('invitation');
}

/** A pending invitation, as its link shows it. */
export interface PendingInvitation {
  readonly email: string;
  readonly emailKey: string;
  readonly role: string;
  readonly workspaceName: string;
  /** The name of the member; null for one that is gone, and for an API key, whose name is internal. */
  readonly invitedBy: string | null;
  readonly expiresAt: string;
}

/** The invitation of a link; null when it is unknown, used or expired. @throws UnavailableError */
export async function findInvitation(
  database: Database,
  token: string,
  now: number,
): Promise<PendingInvitation | null> {
  const [row] = await database.query<PendingInvitation & { readonly expiresAtMs: number }>(
    `select i.email, i.email_key as "emailKey", i.role, w.name as "workspaceName",
       (extract(epoch from i.expires_at) * 1000)::float8 as "expiresAtMs",
       (select a.name from members m join accounts a on a.id = m.account_id where m.id = i.invited_by and m.workspace_id = i.workspace_id) as "invitedBy"
     from invitations i join workspaces w on w.id = i.workspace_id
     where i.hash = $1 and i.accepted_at is null and i.expires_at > $2::text::timestamptz and w.archived_at is null and ${STANDS}`,
    [hashOf(token), iso(now)],
  );
  if (!row) return null;
  const { expiresAtMs, ...invitation } = row;
  return { ...invitation, expiresAt: iso(expiresAtMs) };
}

/**
 * One statement, so that of several requests with the same link only one creates a member. It counts the
 * account's workspaces as creating one does: a person at the limit keeps the invitation.
 */
const TAKE = `with room as materialized (select present < $5::integer as is_left from workspaces_of($4) present), accepted as (
  update invitations i set accepted_at = $2::text::timestamptz from room
  where room.is_left and i.hash = $1 and i.accepted_at is null and i.expires_at > $2::text::timestamptz and ${STANDS}
  returning i.workspace_id, i.role, i.language
)`;
const TOLD = `returning workspace_id
) select room.is_left, joined.workspace_id from room left join joined on true`;

const JOIN = `${TAKE}, joined as (
insert into members (id, workspace_id, account_id, role, joined_at, language)
select $3, workspace_id, $4, role, $2::text::timestamptz, coalesce(${languageOfPersonSql('$4')}, language) from accepted ${TOLD}`;

const JOIN_NEW = `${TAKE}, account as (
  insert into accounts (id, email, email_key, name, password, created_at)
  select $4, $6, $7, $8, $9, $2::text::timestamptz from accepted returning id
), joined as (
insert into members (id, workspace_id, account_id, role, joined_at, language)
select $3, workspace_id, account.id, role, $2::text::timestamptz, language from accepted, account ${TOLD}`;

/**
 * Makes the person a member, with their account or a new one; 'full' for a person who belongs to `most`
 * workspaces, null when another request was faster. @throws UnavailableError
 */
export async function acceptInvitation(
  database: Database,
  token: string,
  account: string | NewAccount,
  most: number,
  now: number,
): Promise<{ readonly accountId: string; readonly workspaceId: string } | 'full' | null> {
  const isNew = typeof account !== 'string';
  const accountId = isNew ? mintId('acc', now) : account;
  const values = [hashOf(token), iso(now), mintId('mem', now), accountId, most];
  try {
    const [row] = await database.query<{ is_left: boolean; workspace_id: string | null }>(
      isNew ? JOIN_NEW : JOIN,
      isNew ? [...values, account.email, account.emailKey, account.name, account.password] : values,
    );
    if (row?.is_left === false) return 'full';
    return row?.workspace_id ? { accountId, workspaceId: row.workspace_id } : null;
  } catch (error) {
    if (isDuplicate(error)) return null;
    throw error;
  }
}
