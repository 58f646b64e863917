import { createHash, randomBytes } from 'node:crypto';
import type { PlanName } from '../../../platform/config/plans.ts';
import type { Database, Parameter } from '../../../platform/db/database.ts';
import { mintId } from '../../../platform/db/ids.ts';
import type { Permission } from '../permissions.ts';
import type { SenderDefaults } from '../principal.ts';
import type { Role } from '../roles.ts';
import { SessionEnds } from './session-ends.ts';

/**
 * The party behind a session: the key that was exchanged for it, the link that opened it, or the person who
 * signed in.
 */
export interface SessionSubject {
  readonly kind: 'key' | 'operatorLink' | 'account';
  readonly id: string;
  readonly workspaceId: string;
  readonly livemode: boolean;
}

/** A session of a browser, or of a tool with a ticket. */
export interface Session {
  /** Null for a connection without a browser session. */
  readonly id: string | null;
  readonly subject: SessionSubject;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** A stored session, with the current facts of its key, member and workspace that its principal needs. */
export interface StoredSession extends Session {
  readonly id: string;
  readonly seenAt: number;
  readonly plan: PlanName;
  readonly senderDefaults: SenderDefaults;
  readonly isArchived: boolean;
  /** Null for a revoked key, and for sessions without a key. */
  readonly keyPermissions: readonly Permission[] | null;
  /** Null for keys and links, and for a person who is no longer a member. */
  readonly member: { readonly id: string; readonly role: Role; readonly hasSecondFactor: boolean } | null;
}

/** The circumstances of opening a session. */
export interface SessionOpening {
  readonly expiresAt: number;
  readonly userAgent: string;
  /** The address of the client. */
  readonly client: string;
  /** The token of the browser's earlier session, which ends. */
  readonly replaces: string | null;
  /** The condition that must still be true when the session is stored; absent for none. */
  readonly provided?: Proof;
}

/**
 * The basis of a new session. A password change ends all sessions; without this check, a session being opened
 * with the old password, or replacing one that has just ended, would survive it.
 */
export type Proof =
  /** The account still has this hash of a password. */
  | { readonly password: string | null }
  /** The session that it replaces has not ended. */
  | 'replaced';

/** The idle time after which a person has to sign in again. */
const IDLE_MS = 30 * 86_400_000;

/** Opening a session marks its workspace as the last one used, which the next sign-in returns to. */
const OPEN = `with ended as (delete from browser_sessions where hash = $1 returning id), unchanged as (
  select id from accounts where $12 = 'password' and id = $5 and password = $13 for share
), seen as (
  update members set last_seen_at = $10::text::timestamptz
  where $4 = 'account' and account_id = $5 and workspace_id = $6
), opened as (
insert into browser_sessions
  (id, hash, kind, subject_id, workspace_id, livemode, user_agent, client, seen_at, expires_at)
select $2, $3, $4, $5, $6, $7::boolean, $8, $9, $10::text::timestamptz, $11::text::timestamptz
where $12 = 'nothing' or ($12 = 'password' and exists (select from unchanged)) or ($12 = 'replaced' and exists (select from ended))
returning id
)
select (select id from opened) as opened, (select id from ended) as replaced`;

/**
 * A person may name another workspace than the one that the session was last used in; the member of that one
 * counts.
 */
const FIND = `select s.id, s.kind, s.subject_id, w.id as workspace_id, s.livemode,
  (extract(epoch from s.expires_at) * 1000)::float8 as expires_at,
  (extract(epoch from s.seen_at) * 1000)::float8 as seen_at,
  w.plan, w.default_from, w.default_reply_to, w.archived_at is not null as archived,
  k.context, m.id as member_id, m.role,
  a.totp_confirmed_at is not null or exists (select from passkeys p where p.account_id = a.id) as two_factor
from browser_sessions s join workspaces w on w.erase_at is null
  and w.id = case when s.kind = 'account' then coalesce($4::text, s.workspace_id) else s.workspace_id end
left join api_keys k on s.kind = 'key' and k.id = s.subject_id and k.state = 'active'
left join members m on s.kind = 'account' and m.account_id = s.subject_id and m.workspace_id = w.id
left join accounts a on a.id = m.account_id
where s.expires_at > $2::text::timestamptz and s.seen_at > $3::text::timestamptz`;

const NOTE = `with seen as (update browser_sessions set seen_at = $2::text::timestamptz where id = $1)
update members set last_seen_at = $2::text::timestamptz where id = $3`;

const MOVE = `with moved as (
  update browser_sessions set workspace_id = $2 where id = $1 and workspace_id <> $2 returning id
) update members set last_seen_at = $4::text::timestamptz where id = $3 and exists (select from moved)`;

interface Row {
  readonly id: string;
  readonly kind: SessionSubject['kind'];
  readonly subject_id: string;
  readonly workspace_id: string;
  readonly livemode: boolean;
  readonly expires_at: number;
  readonly seen_at: number;
  readonly plan: PlanName;
  readonly default_from: string | null;
  readonly default_reply_to: string | null;
  readonly archived: boolean;
  readonly context: { readonly permissions: readonly Permission[] } | null;
  readonly member_id: string | null;
  readonly role: Role | null;
  readonly two_factor: boolean;
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url');

/**
 * The sessions of browsers in the database. A leaked copy of it opens nothing, since it holds hashes only.
 */
export class SessionStore {
  constructor(
    private readonly database: Database,
    private readonly now: () => number,
    /** Called with every session that this store ends. */
    readonly ends = new SessionEnds(),
  ) {}

  /**
   * Stores a new session and returns its token; null when its basis is no longer valid. @throws
   * UnavailableError
   */
  async open(
    subject: SessionSubject,
    { expiresAt, userAgent, client, replaces, provided }: SessionOpening,
  ): Promise<string | null> {
    const token = randomBytes(32).toString('base64url');
    const password = typeof provided === 'object' ? provided.password : null;
    const [made] = await this.database.query<{ opened: string | null; replaced: string | null }>(OPEN, [
      replaces === null ? '' : hashOf(replaces),
      mintId('ses', this.now()),
      hashOf(token),
      subject.kind,
      subject.id,
      subject.workspaceId,
      subject.livemode,
      userAgent.slice(0, 300),
      client,
      iso(this.now()),
      iso(expiresAt),
      typeof provided === 'object' ? 'password' : (provided ?? 'nothing'),
      password,
    ]);
    if (made?.replaced) this.ends.tell({ sessionId: made.replaced });
    return made?.opened ? token : null;
  }

  /**
   * Finds the session of a token, as the person's session in the named workspace; null when it has ended, or
   * no workspace has that id. @throws UnavailableError
   */
  ofToken = (token: string, workspaceId: string | null = null): Promise<StoredSession | null> =>
    this.#find('s.hash = $1', hashOf(token), workspaceId);

  /** The same by the id of the session. @throws UnavailableError */
  ofId = (id: string, workspaceId: string | null = null): Promise<StoredSession | null> =>
    this.#find('s.id = $1', id, workspaceId);

  /** Notes the use of a session, and of the member who opened it. @throws UnavailableError */
  async noteUse(session: StoredSession): Promise<void> {
    await this.database.query(NOTE, [session.id, iso(this.now()), session.member?.id ?? null]);
  }

  /**
   * Remembers the workspace that a person works in, which the next sign-in returns to. @throws
   * UnavailableError
   */
  async move(sessionId: string, workspaceId: string, memberId: string): Promise<void> {
    await this.database.query(MOVE, [sessionId, workspaceId, memberId, iso(this.now())]);
  }

  /** Ends the session of a token. @throws UnavailableError */
  async end(token: string): Promise<void> {
    const ended = await this.database.query<{ id: string }>(
      'delete from browser_sessions where hash = $1 returning id',
      [hashOf(token)],
    );
    for (const { id } of ended) this.ends.tell({ sessionId: id });
  }

  async #find(
    condition: string,
    value: Parameter,
    workspaceId: string | null,
  ): Promise<StoredSession | null> {
    const now = this.now();
    const [row] = await this.database.query<Row>(`${FIND} and ${condition}`, [
      value,
      iso(now),
      iso(now - IDLE_MS),
      workspaceId,
    ]);
    return row ? sessionOf(row) : null;
  }
}

const iso = (at: number): string => new Date(at).toISOString();

const sessionOf = (row: Row): StoredSession => ({
  id: row.id,
  subject: {
    kind: row.kind,
    id: row.subject_id,
    workspaceId: row.workspace_id,
    livemode: row.livemode,
  },
  expiresAt: row.expires_at,
  seenAt: row.seen_at,
  plan: row.plan,
  senderDefaults: { from: row.default_from, replyTo: row.default_reply_to },
  isArchived: row.archived,
  keyPermissions: row.context?.permissions ?? null,
  member:
    row.member_id !== null && row.role !== null
      ? { id: row.member_id, role: row.role, hasSecondFactor: row.two_factor }
      : null,
});
