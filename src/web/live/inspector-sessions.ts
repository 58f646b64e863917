import { type Authenticate, identify, identifyKey } from '../../http/auth/api-key.ts';
import type { OneTimeTokens } from '../../http/auth/passwords/one-time-tokens.ts';
import { holds, type Permission } from '../../http/auth/permissions.ts';
import { type KeyPrincipal, lacking } from '../../http/auth/principal.ts';
import type { Session, SessionSubject } from '../../http/auth/sessions/session-store.ts';
import type { Sessions } from '../../http/auth/sessions/sessions.ts';
import { Failure } from '../../platform/errors/failure.ts';
import type { Visibility, VisibilityOf } from './visibility.ts';

/** The permission to open the live view at all; further ones decide which kinds are visible. */
export const NEEDED: Permission = 'emails:read';

/** The session of a viewer and the kinds that are visible to it. */
export interface InspectorSession extends Session {
  readonly visibility: Visibility;
}

/** The subject of a one-time ticket for the live view. */
export interface Ticket {
  /** The session that requested the ticket; null for a printed link. */
  readonly sessionId: string | null;
  readonly subject: SessionSubject;
  /**
   * The end of the session that requested the ticket, which bounds the session that it opens. Null for a
   * printed link.
   */
  readonly endsAt: number | null;
}

/** Lifetime of a session, of a link that was not opened, and of a socket that was opened with a key. */
const LASTS_MS = 3_600_000;

const UNKNOWN = new Failure('UNAUTHORIZED', 'This API key is not valid, or it was revoked.');
const SPENT = new Failure('UNAUTHORIZED', 'This link was opened before, or it is too old.', {
  suggestion: 'Restart the service for another link, or use an API key.',
});

/** Exchanges keys and tickets for sessions, and checks whether sessions are still valid. */
export class InspectorSessions {
  constructor(
    private readonly sessions: Sessions,
    private readonly tickets: OneTimeTokens<Ticket>,
    private readonly authenticate: Authenticate,
    private readonly visibilityOf: VisibilityOf,
    private readonly now: () => number,
  ) {}

  /**
   * Opens a session with a key or the ticket of a printed link, and returns its cookie. A ticket of a session
   * opens connections alone, which end with it: a second session would outlive it, and a new password.
   */
  async begin(
    { key, ticket }: { readonly key?: string; readonly ticket?: string },
    headers: Headers,
    client: string,
  ): Promise<string | Failure> {
    if (ticket !== undefined) {
      const session = await this.#redeem(ticket);
      if (!session || session.id !== null) return SPENT;
      return this.sessions.open(session.subject, session.expiresAt, headers, client);
    }
    const caller = await identifyKey(key ?? '', this.authenticate);
    if (caller instanceof Failure) return UNKNOWN;
    if (!holds(caller.permissions, NEEDED)) return lacking(NEEDED, caller);
    return this.sessions.open(subjectOf(caller), this.now() + LASTS_MS, headers, client);
  }

  /**
   * Ends the session of a request and those connections that it opened; returns the header that removes its
   * cookie.
   */
  end(headers: Headers): Promise<string> {
    return this.sessions.end(headers);
  }

  /** Issues a ticket that opens one session. @throws UnavailableError */
  link(subject: SessionSubject): Promise<string> {
    return this.tickets.issue({ sessionId: null, subject, endsAt: null }, this.now() + LASTS_MS);
  }

  /**
   * Issues a ticket for a client that can send neither a cookie nor a header. It has the access of this
   * session, and ends with it.
   */
  async ticketFor(headers: Headers): Promise<string | null> {
    const session = await this.sessions.find(headers);
    if (!session) return null;
    const { id, subject, expiresAt } = session;
    return this.tickets.issue({ sessionId: id, subject, endsAt: expiresAt }, expiresAt);
  }

  /**
   * Finds the session of a request by its ticket, its cookie, or the key in its Authorization header; a
   * refusal of a key that lacks the permission.
   */
  async of(headers: Headers, ticket: string | null): Promise<InspectorSession | Failure | null> {
    const session = ticket === null ? await this.sessions.find(headers) : await this.#redeem(ticket);
    if (session) {
      const visibility = await this.visibilityNow(session);
      return visibility && { ...session, visibility };
    }
    if (ticket !== null || !headers.has('authorization')) return null;
    const caller = await identify(headers, this.authenticate);
    if (caller instanceof Failure) return null;
    if (!holds(caller.permissions, NEEDED)) return lacking(NEEDED, caller);
    const expiresAt = this.now() + LASTS_MS;
    return {
      id: null,
      subject: subjectOf(caller),
      expiresAt,
      visibility: this.visibilityOf(caller.permissions),
    };
  }

  /** The kinds that a session may see now; null when it is no longer valid. */
  async visibilityNow(session: Session): Promise<Visibility | null> {
    const principal = await this.sessions.principalOf(session);
    // A person may have turned to another workspace meanwhile, and this connection shows the one that it was
    // opened for.
    return principal?.workspaceId === session.subject.workspaceId && holds(principal.permissions, NEEDED)
      ? this.visibilityOf(principal.permissions)
      : null;
  }

  /** The end of the session in these headers; null when there is none. */
  async endOf(headers: Headers): Promise<number | null> {
    return (await this.sessions.find(headers))?.expiresAt ?? null;
  }

  async #redeem(ticket: string): Promise<Session | null> {
    const redeemed = await this.tickets.redeem(ticket);
    if (!redeemed) return null;
    const { sessionId: id, subject, endsAt } = redeemed;
    return { id, subject, expiresAt: endsAt ?? this.now() + LASTS_MS };
  }
}

const subjectOf = ({ id, workspaceId, livemode }: KeyPrincipal): SessionSubject => ({
  kind: 'key',
  id,
  workspaceId,
  livemode,
});
