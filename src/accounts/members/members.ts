import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { Principal } from '../../http/auth/principal.ts';
import { highestRole, outranks, ROLE_NAMES, ROLES, type Role } from '../../http/auth/roles.ts';
import type { Sessions } from '../../http/auth/sessions/sessions.ts';
import type { Call } from '../../http/request/route.ts';
import type { Database } from '../../platform/db/database.ts';
import { accounts, members, passkeys } from '../../platform/db/schema/accounts.ts';
import { workspaces } from '../../platform/db/schema/workspaces.ts';
import { Failure, invalidAt, notFound } from '../../platform/errors/failure.ts';
import { NO_LANGUAGE, readLanguage } from '../../platform/text/language.ts';
import { languagesOf } from '../member-language.ts';
import type { MemberPatch, MemberView } from './model.ts';

/** The most workspaces of one person; there is a limit because each workspace has its own quota. */
export const MOST_WORKSPACES = 50;
/** The answer to one workspace too many, whether it is created or joined. */
export const TOO_MANY_WORKSPACES = new Failure(
  'CONFLICT',
  `A person belongs to at most ${MOST_WORKSPACES} workspaces.`,
  { suggestion: 'Leave or delete one of yours first.' },
);

const findMembers = async (
  database: Database,
  { workspaceId }: Principal,
  condition?: SQL,
): Promise<readonly MemberView[]> => {
  const rows = await database.read((orm) =>
    orm
      .select({
        id: members.id,
        email: accounts.email,
        name: accounts.name,
        role: members.role,
        joinedAt: members.joinedAt,
        lastSeenAt: members.lastSeenAt,
        twoFactor: sql<boolean>`${accounts.totpConfirmedAt} is not null
          or exists (select from ${passkeys} where ${passkeys.accountId} = ${accounts.id})`,
        language: members.language,
        workspaceLanguage: workspaces.language,
      })
      .from(members)
      .innerJoin(accounts, eq(accounts.id, members.accountId))
      .innerJoin(workspaces, eq(workspaces.id, members.workspaceId))
      .where(and(eq(members.workspaceId, workspaceId), condition))
      .orderBy(members.id),
  );
  return rows.map(({ language, workspaceLanguage, ...row }) => ({
    ...row,
    joinedAt: row.joinedAt.toISOString(),
    lastSeenAt: row.lastSeenAt?.toISOString() ?? null,
    ...languagesOf(language, workspaceLanguage),
  }));
};

/** The members of the caller's workspace, in the order in which they joined. @throws UnavailableError */
export const listMembers = (database: Database, caller: Principal): Promise<readonly MemberView[]> =>
  findMembers(database, caller);

/** Finds a member of the caller's workspace. @throws UnavailableError */
export async function findMember(
  database: Database,
  caller: Principal,
  id: string,
): Promise<MemberView | null> {
  const [member] = await findMembers(database, caller, eq(members.id, id));
  return member ?? null;
}

/** True when an address, by its key, is that of a member of a workspace. @throws UnavailableError */
export async function isMember(
  database: Database,
  workspaceId: string,
  addressKey: string,
): Promise<boolean> {
  const rows = await database.read((orm) =>
    orm
      .select({ id: members.id })
      .from(members)
      .innerJoin(accounts, eq(accounts.id, members.accountId))
      .where(and(eq(accounts.emailKey, addressKey), eq(members.workspaceId, workspaceId))),
  );
  return rows.length > 0;
}

/**
 * Locks the owners, so that two demotions at the same time run one after the other: the second waits for the
 * locks, and counts the owners again (EvalPlanQual of PostgreSQL's read committed).
 */
const OWNERS = `with owners as materialized (
  select id from members where workspace_id = $1 and role = 'owner' order by id for update
), allowed as (
  select m.id, m.account_id from members m
  where m.workspace_id = $1 and m.id = $2 and m.role = any(string_to_array($3, ','))
    and ((select count(*) from owners) > 1 or not exists (select from owners o where o.id = m.id))
  for update
)`;

/**
 * Withdraws the invitations that a member could no longer create: an earlier link would be a way back in,
 * even as an owner.
 */
const WITHDRAWN = (roles: string) => `withdrawn as (
  delete from invitations i using allowed
  where i.workspace_id = $1 and i.invited_by = allowed.id and i.accepted_at is null and ${roles}
)`;

const CHANGE = `${OWNERS}, ${WITHDRAWN(`i.role <> all(string_to_array($5, ','))`)}
update members m set role = $4 from allowed where m.id = allowed.id returning m.id`;

const REMOVE = `${OWNERS}, ${WITHDRAWN('true')}, ended as (
  delete from browser_sessions s using allowed
  where s.kind = 'account' and s.subject_id = allowed.account_id and s.workspace_id = $1
), views as (
  delete from saved_views v using allowed where v.account_id = allowed.account_id and v.workspace_id = $1
), drafts as (
  delete from editor_drafts d using allowed where d.account_id = allowed.account_id and d.workspace_id = $1
)
delete from members m using allowed where m.id = allowed.id returning m.account_id`;

const LAST_OWNER = new Failure('CONFLICT', 'A workspace keeps at least one owner.', {
  suggestion: 'Make another member an owner first.',
});

const ABOVE = (role: Role) =>
  new Failure('FORBIDDEN', `Only a member with the role ${role} may grant it, or change who has it.`, {
    suggestion: 'Ask an owner of this workspace.',
  });

/** The refusal of a role above the caller's own; null when the caller may grant it. */
export const beyondOwnRole = ({ permissions }: Principal, role: Role): Failure | null =>
  outranks(role, highestRole(permissions)) ? ABOVE(role) : null;

const TEST_KEY = new Failure('FORBIDDEN', 'A test key cannot change the members of the workspace.', {
  suggestion: 'Use a live key that holds members:write.',
});

/** The refusal of a test key: a member can also use the live environment, which a test key must not open. */
export const testKey = ({ kind, livemode }: Principal): Failure | null =>
  kind === 'key' && !livemode ? TEST_KEY : null;

/** The roles that a holder of these permissions may grant, and change in others, separated by commas. */
export const rolesBelow = ({ permissions }: Pick<Principal, 'permissions'>): string => {
  const highest = highestRole(permissions);
  return ROLE_NAMES.filter((role) => !outranks(role, highest)).join(',');
};

/** A language as it is stored, from a request; a refusal of a malformed one. */
export function chosenLanguage(given: string | null): string | null | Failure {
  if (given === null) return null;
  return readLanguage(given) ?? invalidAt('/body/language', NO_LANGUAGE);
}

/**
 * Changes the role and the language of a member; takes effect on the next request. @throws UnavailableError
 */
export async function changeMember(
  database: Database,
  caller: Principal,
  id: string,
  { role, language: given }: MemberPatch,
): Promise<MemberView | Failure> {
  const language = given === undefined ? undefined : chosenLanguage(given);
  if (language instanceof Failure) return language;
  const member = await findMember(database, caller, id);
  if (!member) return notFound('member');
  const refusal =
    testKey(caller) ??
    // Warnings in a language that an owner cannot read would go unread.
    beyondOwnRole(caller, member.role) ??
    (role === undefined ? null : beyondOwnRole(caller, role));
  if (refusal) return refusal;
  if (role !== undefined && role !== member.role) {
    const changed = await database.query(CHANGE, [
      caller.workspaceId,
      id,
      rolesBelow(caller),
      role,
      rolesBelow({ permissions: ROLES[role] }),
    ]);
    if (changed.length === 0) return LAST_OWNER;
  }
  if (language !== undefined) await setLanguage(database, eq(members.id, id), language);
  return (await findMember(database, caller, id)) ?? notFound('member');
}

async function setLanguage(database: Database, of: SQL, language: string | null): Promise<void> {
  await database.read((orm) => orm.update(members).set({ language }).where(of));
}

/** Changes the language of a person's emails in all their workspaces. @throws UnavailableError */
export async function changeOwnLanguage(
  database: Database,
  accountId: string,
  given: string | null,
): Promise<Failure | null> {
  const language = chosenLanguage(given);
  if (language instanceof Failure) return language;
  await setLanguage(database, eq(members.accountId, accountId), language);
  return null;
}

export interface RemovalDeps {
  readonly database: Database;
  readonly sessions: Pick<Sessions, 'ends'>;
  /** Revokes the keys that a member has created. @throws UnavailableError */
  revokeKeysOf(
    call: Pick<Call, 'caller' | 'now' | 'requestId'>,
    memberId: string,
  ): Promise<readonly string[] | Failure>;
}

async function isLastOwner(database: Database, { workspaceId }: Principal, id: string): Promise<boolean> {
  const owners = await database.read((orm) =>
    orm
      .select({ id: members.id })
      .from(members)
      .where(and(eq(members.workspaceId, workspaceId), eq(members.role, 'owner')))
      .limit(2),
  );
  return owners.length === 1 && owners[0]?.id === id;
}

/**
 * Removes a member; the sessions in this workspace end at once. Keys are revoked first: if the process dies
 * in between, the member is still there, and the request can be repeated. @throws UnavailableError
 */
export async function removeMember(
  { database, sessions, revokeKeysOf }: RemovalDeps,
  {
    caller,
    params: { id },
    query,
    now,
    requestId,
  }: Pick<
    Call<{ readonly id: string }, { readonly revokeKeys: boolean }>,
    'caller' | 'params' | 'query' | 'now' | 'requestId'
  >,
): Promise<Failure | null> {
  const member = await findMember(database, caller, id);
  if (!member) return notFound('member');
  const refusal = testKey(caller) ?? beyondOwnRole(caller, member.role);
  if (refusal) return refusal;
  if (query.revokeKeys) {
    if (await isLastOwner(database, caller, id)) return LAST_OWNER;
    const revoked = await revokeKeysOf({ caller, now, requestId }, id);
    if (revoked instanceof Failure) return revoked;
  }
  const removed = await database.query<{ account_id: string }>(REMOVE, [
    caller.workspaceId,
    id,
    rolesBelow(caller),
  ]);
  if (removed.length === 0) return LAST_OWNER;
  for (const { account_id: accountId } of removed)
    sessions.ends.tell({ accountId, workspaceId: caller.workspaceId });
  // A running request of the member may have created another key.
  const late = query.revokeKeys ? await revokeKeysOf({ caller, now, requestId }, id) : [];
  return late instanceof Failure ? late : null;
}
