import type { PlanName } from '../../../platform/config/plans.ts';
import { isId } from '../../../platform/db/ids.ts';
import { Failure } from '../../../platform/errors/failure.ts';
import type { Permission } from '../permissions.ts';
import type { Principal, SenderDefaults } from '../principal.ts';
import { demandsTwoFactor, ROLES, type TwoFactorRule } from '../roles.ts';
import type { SessionCookie } from './session-cookie.ts';
import type { SessionEnds } from './session-ends.ts';
import type { Proof, Session, SessionStore, SessionSubject, StoredSession } from './session-store.ts';

/** The members of a principal that come from its workspace. */
export interface WorkspaceTerms {
  readonly plan: PlanName;
  readonly senderDefaults: SenderDefaults;
}

/**
 * Finds the permissions of an active key and the terms of its workspace by the key's id; null when it was
 * revoked.
 */
export type FindKey = (
  id: string,
) => Promise<({ readonly permissions: readonly Permission[] } & WorkspaceTerms) | null>;

/** Finds the terms of a workspace; null when there is no such workspace, or it is archived. */
export type FindTerms = (workspaceId: string) => Promise<WorkspaceTerms | null>;

/** The refusal of a workspace of others, which is the same as for one that does not exist. */
export const NO_SUCH_WORKSPACE = new Failure(
  'NOT_FOUND',
  'There is no such workspace, or you are not a member of it.',
  { suggestion: 'Open /app to get to your own workspaces, or ask an owner of this one for an invitation.' },
);

/** The operator's link belongs to no key whose permissions could limit it. */
const UNBOUNDED: readonly Permission[] = ['*'];

/** The use of a session is stored at most this often. */
const REFRESH_MS = 15 * 60_000;

/**
 * Opens, finds and ends the sessions of browsers. The permissions of a session are read at every request, so
 * a revocation takes effect at once.
 */
export class Sessions {
  constructor(
    private readonly store: SessionStore,
    private readonly cookie: SessionCookie,
    private readonly findKey: FindKey,
    private readonly findTerms: FindTerms,
    private readonly now: () => number,
    private readonly twoFactorRule: TwoFactorRule = 'off',
  ) {}

  /** Announces sessions ended by requests to this process, at once. */
  get ends(): SessionEnds {
    return this.store.ends;
  }

  /**
   * Opens a session that ends at that time and returns its cookie. The browser's earlier session ends.
   * @throws UnavailableError
   */
  async open(subject: SessionSubject, expiresAt: number, headers: Headers, client: string): Promise<string> {
    const cookie = await this.openProvided(subject, expiresAt, headers, client);
    if (cookie === null) throw new Error('A session that depends on nothing was not opened.');
    return cookie;
  }

  /** The same for a session with a basis; null when the basis is no longer valid. @throws UnavailableError */
  async openProvided(
    subject: SessionSubject,
    expiresAt: number,
    headers: Headers,
    client: string,
    provided?: Proof,
  ): Promise<string | null> {
    const replaces = this.cookie.read(headers);
    const userAgent = headers.get('user-agent') ?? '';
    const proof = provided === undefined ? {} : { provided };
    const token = await this.store.open(subject, { expiresAt, userAgent, client, replaces, ...proof });
    return token === null ? null : this.cookie.write(token, expiresAt);
  }

  /**
   * The session of a request; null when there is none, or it has ended. With a workspace it is the person's
   * session there, or null when there is no such workspace. @throws UnavailableError
   */
  async find(headers: Headers, workspaceId: string | null = null): Promise<StoredSession | null> {
    if (workspaceId !== null && !isId('ws', workspaceId)) return null;
    const token = this.cookie.read(headers);
    return token === null ? null : await this.store.ofToken(token, workspaceId);
  }

  /**
   * Ends the session of a request, and returns the header that removes its cookie. @throws UnavailableError
   */
  async end(headers: Headers): Promise<string> {
    const token = this.cookie.read(headers);
    if (token !== null) await this.store.end(token);
    return this.cookie.clear();
  }

  /**
   * The principal of a request with a session cookie; null when there is no valid one. A page names its
   * workspace, and a person who is no member of it is refused. @throws UnavailableError
   */
  principal = async (
    headers: Headers,
    workspaceId: string | null = null,
  ): Promise<Principal | Failure | null> => {
    const session = await this.find(headers, workspaceId);
    const principal = session && this.#principalBehind(session);
    if (!principal) return workspaceId !== null && (await this.find(headers)) ? NO_SUCH_WORKSPACE : null;
    if (session.seenAt < this.now() - REFRESH_MS) await this.store.noteUse(session);
    return principal;
  };

  /** Remembers the workspace in which a person works, for the next sign-in. @throws UnavailableError */
  remember({ sessionId, workspaceId, id }: Extract<Principal, { kind: 'member' }>): Promise<void> {
    return this.store.move(sessionId, workspaceId, id);
  }

  /**
   * The current principal of a session; null when it has ended or its key was revoked. @throws
   * UnavailableError
   */
  async principalOf({ id: sessionId, subject, expiresAt }: Session): Promise<Principal | null> {
    if (expiresAt <= this.now()) return null;
    if (sessionId !== null) {
      const session = await this.store.ofId(sessionId, subject.workspaceId);
      return session && this.#principalBehind(session);
    }
    const { kind, id, workspaceId, livemode } = subject;
    if (kind === 'account') return null;
    const bounds = kind === 'key' ? await this.findKey(id) : withAll(await this.findTerms(workspaceId));
    return bounds && { kind, id, workspaceId, livemode, ...bounds };
  }

  /** The principal of a stored session. Members of an archived workspace can still read everything. */
  #principalBehind(session: StoredSession): Principal | null {
    const { subject, plan, senderDefaults, member, isArchived, keyPermissions } = session;
    const { kind, id, workspaceId, livemode } = subject;
    const common = { workspaceId, livemode, plan, senderDefaults };
    if (kind === 'account') {
      if (!member) return null;
      const { role } = member;
      const needsSecondFactor = !member.hasSecondFactor && demandsTwoFactor(this.twoFactorRule, role);
      const permissions: readonly Permission[] = ROLES[isArchived || needsSecondFactor ? 'viewer' : role];
      return {
        kind: 'member',
        id: member.id,
        accountId: id,
        sessionId: session.id,
        role,
        needsSecondFactor,
        isArchived,
        permissions,
        ...common,
      };
    }
    if (isArchived) return null;
    if (kind === 'operatorLink') return { kind, id, permissions: UNBOUNDED, ...common };
    return keyPermissions && { kind, id, permissions: keyPermissions, ...common };
  }
}

const withAll = (terms: WorkspaceTerms | null) => terms && { permissions: UNBOUNDED, ...terms };
