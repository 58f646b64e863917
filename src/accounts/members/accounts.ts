import { and, count, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import type { Role } from '../../http/auth/roles.ts';
import type { Database } from '../../platform/db/database.ts';
import { lowestIdAt, mintId } from '../../platform/db/ids.ts';
import { accounts, members, passkeys } from '../../platform/db/schema/accounts.ts';
import { workspaces } from '../../platform/db/schema/workspaces.ts';
import { isDuplicate } from '../../platform/db/sqlstate.ts';

/** A person who can sign in. */
export interface Account {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  readonly name: string;
  /** The hash of the password; null without one. */
  readonly password: string | null;
  /** The sealed secret of the authenticator, once a code of it was confirmed. */
  readonly totp: string | null;
  readonly totpStep: number;
  readonly passkeys: number;
}

async function findAccount(database: Database, condition: SQL): Promise<Account | null> {
  const [row] = await database.read((orm) =>
    orm
      .select({
        id: accounts.id,
        email: accounts.email,
        emailKey: accounts.emailKey,
        name: accounts.name,
        password: accounts.password,
        totp: sql<string | null>`case when ${accounts.totpConfirmedAt} is not null then ${accounts.totp} end`,
        totpStep: accounts.totpStep,
        passkeys: count(passkeys.id),
      })
      .from(accounts)
      .leftJoin(passkeys, eq(passkeys.accountId, accounts.id))
      .where(condition)
      .groupBy(accounts.id),
  );
  return row ?? null;
}

/** Finds an account by the key of its address. @throws UnavailableError */
export const accountByEmail = (database: Database, emailKey: string): Promise<Account | null> =>
  findAccount(database, eq(accounts.emailKey, emailKey));

/** Finds an account by its id. @throws UnavailableError */
export const accountById = (database: Database, id: string): Promise<Account | null> =>
  findAccount(database, eq(accounts.id, id));

/** True when a second factor is asked for beside the password. */
export const hasSecondFactor = ({ totp, passkeys }: Account): boolean => totp !== null || passkeys > 0;

/**
 * The workspace for a session after sign-in: the last used one, else the one joined first. @throws
 * UnavailableError
 */
export async function homeOf(database: Database, accountId: string): Promise<string | null> {
  const [row] = await database.read((orm) =>
    orm
      .select({ workspaceId: members.workspaceId })
      .from(members)
      .innerJoin(workspaces, and(eq(workspaces.id, members.workspaceId), isNull(workspaces.eraseAt)))
      .where(eq(members.accountId, accountId))
      .orderBy(isNotNull(workspaces.archivedAt), sql`${members.lastSeenAt} desc nulls last`, members.id)
      .limit(1),
  );
  return row?.workspaceId ?? null;
}

/** True when any account exists. @throws UnavailableError */
export async function isSetUp(database: Database): Promise<boolean> {
  const rows = await database.read((orm) => orm.select({ id: accounts.id }).from(accounts).limit(1));
  return rows.length > 0;
}

/** An account to create. */
export interface NewAccount {
  readonly email: string;
  readonly emailKey: string;
  readonly name: string;
  readonly password: string;
}

const CREATE = `with account as (
  insert into accounts (id, email, email_key, name, password, created_at)
  values ($1, $2, $3, $4, $5, $6::text::timestamptz) returning id
)
insert into members (id, workspace_id, account_id, role, joined_at)
select $7, $8, id, $9, $6::text::timestamptz from account`;

/**
 * Creates an account that is a member of a workspace; null when one with that address, or a first one,
 * exists. @throws UnavailableError
 */
export async function createAccount(
  database: Database,
  account: NewAccount,
  member: { readonly workspaceId: string; readonly role: Role; readonly isFirst?: boolean },
  now: number,
): Promise<string | null> {
  const id = mintId('acc', now);
  // The first owner's id is always the same, so that two setup links cannot create two of them.
  const memberId = member.isFirst ? lowestIdAt('mem', 0) : mintId('mem', now);
  const { email, emailKey, name, password } = account;
  const at = new Date(now).toISOString();
  const values = [id, email, emailKey, name, password, at, memberId, member.workspaceId, member.role];
  try {
    await database.query(CREATE, values);
    return id;
  } catch (error) {
    if (isDuplicate(error)) return null;
    throw error;
  }
}

const END = `delete from browser_sessions where kind = 'account' and subject_id = $1 and id is distinct from $2`;

/**
 * Ends every session of the person but one. It runs twice, because only the second statement sees a session
 * that was being opened in place of an ended one. @throws UnavailableError
 */
export async function endSessions(
  database: Database,
  accountId: string,
  exceptSession: string | null,
): Promise<void> {
  for (let time = 1; time <= 2; time++) await database.query(END, [accountId, exceptSession]);
}

const SET_PASSWORD = `with changed as (
  update accounts set password = $2 where id = $1 and password is not distinct from $4 returning id
), ended as (
  delete from browser_sessions using changed
  where kind = 'account' and subject_id = changed.id and browser_sessions.id is distinct from $3
)
select id from changed`;

/**
 * Sets the password if it is still the one that was read with the account, and ends all of the person's
 * sessions but one. False when the password was changed meanwhile: nothing is written then, and no session
 * ends. @throws UnavailableError
 */
export async function setPassword(
  database: Database,
  { id, password }: Pick<Account, 'id' | 'password'>,
  hash: string,
  exceptSession: string | null,
): Promise<boolean> {
  const changed = await database.query(SET_PASSWORD, [id, hash, exceptSession, password]);
  if (changed.length === 0) return false;
  await endSessions(database, id, exceptSession);
  return true;
}
