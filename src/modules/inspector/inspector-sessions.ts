import { type Authenticate, identify, identifyKey } from '../../auth/api-key.ts';
import type { OneTimeTokens } from '../../auth/one-time-tokens.ts';
import { holds, type Permission } from '../../auth/permissions.ts';
import { lacking } from '../../auth/principal.ts';
import type { Session, SessionSubject } from '../../auth/session-cookie.ts';
import type { Sessions } from '../../auth/sessions.ts';
import { Failure } from '../../http/failure.ts';
import type { Visibility, VisibilityOf } from './visibility.ts';

/** The permission to open the live view at all; further ones decide which kinds are visible. */
export const NEEDED: Permission = 'emails:read';

/** The session of a viewer and the kinds that are visible to it. */
export interface InspectorSession extends Session {
  readonly visibility: Visibility;
}

/** The subject of a one-time ticket for the live view. */
export interface Ticket {
  readonly subject: SessionSubject;
  /** The end of the session that requested the ticket, which bounds the session that it opens. Null for a printed link. */
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

  /** Opens a session with a key or the ticket of a printed link, and returns its cookie. */
  async begin({
    key,
    ticket,
  }: {
    readonly key?: string;
    readonly ticket?: string;
  }): Promise<string | Failure> {
    if (ticket !== undefined) {
      const session = await this.#redeem(ticket);
      return session ? this.sessions.cookie.write(session) : SPENT;
    }
    const caller = await identifyKey(key ?? '', this.authenticate);
    if (caller instanceof Failure) return UNKNOWN;
    if (!holds(caller.permissions, NEEDED)) return lacking(NEEDED, caller);
    return this.sessions.cookie.write({ subject: subjectOf(caller), expiresAt: this.now() + LASTS_MS });
  }

  end(): string {
    return this.sessions.cookie.clear();
  }

  /** Issues a ticket that opens one session. @throws Unavailable */
  link(subject: SessionSubject): Promise<string> {
    return this.tickets.issue({ subject, endsAt: null }, this.now() + LASTS_MS);
  }

  /** Issues a ticket for a client that can send neither a cookie nor a header. It gives the access of this session, and ends with it. */
  async ticketFor(headers: Headers): Promise<string | null> {
    const session = this.sessions.cookie.read(headers);
    return session && this.tickets.issue({ ...session, endsAt: session.expiresAt }, session.expiresAt);
  }

  /** Finds the session of a request by its ticket, its cookie, or the key in its Authorization header. */
  async of(headers: Headers, ticket: string | null): Promise<InspectorSession | null> {
    const session = ticket === null ? this.sessions.cookie.read(headers) : await this.#redeem(ticket);
    if (session) {
      const visibility = await this.visibilityNow(session);
      return visibility && { ...session, visibility };
    }
    if (ticket !== null || !headers.has('authorization')) return null;
    const caller = await identify(headers, this.authenticate);
    if (caller instanceof Failure || !holds(caller.permissions, NEEDED)) return null;
    const expiresAt = this.now() + LASTS_MS;
    return { subject: subjectOf(caller), expiresAt, visibility: this.visibilityOf(caller.permissions) };
  }

  /** The kinds that a session may see now; null when it is no longer valid. */
  async visibilityNow(session: Session): Promise<Visibility | null> {
    const principal = await this.sessions.principalOf(session);
    return principal && holds(principal.permissions, NEEDED)
      ? this.visibilityOf(principal.permissions)
      : null;
  }

  /** The end of the session in these headers; null when there is none. */
  endOf(headers: Headers): number | null {
    return this.sessions.cookie.read(headers)?.expiresAt ?? null;
  }

  async #redeem(ticket: string): Promise<Session | null> {
    const redeemed = await this.tickets.redeem(ticket);
    return redeemed && { subject: redeemed.subject, expiresAt: redeemed.endsAt ?? this.now() + LASTS_MS };
  }
}

const subjectOf = ({ kind, id, workspaceId, livemode }: SessionSubject): SessionSubject => ({
  kind,
  id,
  workspaceId,
  livemode,
});
