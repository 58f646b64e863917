import type { Role } from '../../http/auth/roles.ts';
import type { Database } from '../../platform/db/database.ts';
import { lowestIdAt, mintId } from '../../platform/db/ids.ts';
import { accounts } from '../../platform/db/schema/accounts.ts';
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

interface Row {
  readonly id: string;
  readonly email: string;
  readonly email_key: string;
  readonly name: string;
  readonly password: string | null;
  readonly totp: string | null;
  readonly totp_step: number;
  readonly passkeys: number;
}

const FIND = `select a.id, a.email, a.email_key, a.name, a.password, a.totp_step::float8 as totp_step,
  case when a.totp_confirmed_at is not null then a.totp end as totp,
  (select count(*)::integer from passkeys p where p.account_id = a.id) as passkeys
from accounts a`;

const accountOf = (row: Row | undefined): Account | null =>
  row
    ? {
        id: row.id,
        email: row.email,
        emailKey: row.email_key,
        name: row.name,
        password: row.password,
        totp: row.totp,
        totpStep: row.totp_step,
        passkeys: row.passkeys,
      }
    : null;

/** Finds an account by the key of its address. @throws UnavailableError */
export const accountByEmail = async (database: Database, emailKey: string): Promise<Account | null> =>
  accountOf((await database.query<Row>(`${FIND} where a.email_key = $1`, [emailKey]))[0]);

/** Finds an account by its id. @throws UnavailableError */
export const accountById = async (database: Database, id: string): Promise<Account | null> =>
  accountOf((await database.query<Row>(`${FIND} where a.id = $1`, [id]))[0]);

/** True when a second factor is asked for beside the password. */
export const hasSecondFactor = ({ totp, passkeys }: Account): boolean => totp !== null || passkeys > 0;

/**
 * The workspace for a session after sign-in: the last used one, else the one joined first. @throws
 * UnavailableError
 */
export async function homeOf(database: Database, accountId: string): Promise<string | null> {
  const [row] = await database.query<{ workspace_id: string }>(
    `select m.workspace_id from members m join workspaces w on w.id = m.workspace_id and w.erase_at is null
     where m.account_id = $1
     order by w.archived_at is not null, m.last_seen_at desc nulls last, m.id limit 1`,
    [accountId],
  );
  return row?.workspace_id ?? null;
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
