import { type Authenticate, identify, identifyKey } from '../../auth/api-key.ts';
import type { OneTimeTokens } from '../../auth/one-time-tokens.ts';
import { holds, type Permission } from '../../auth/permissions.ts';
import { lacking } from '../../auth/principal.ts';
import type { Session, SessionSubject } from '../../auth/session-cookie.ts';
import type { Sessions } from '../../auth/sessions.ts';
import { Failure } from '../../http/failure.ts';
import type { SightOf, Visibility } from './visibility.ts';

/** What it takes to look at all; what is seen then is another matter (sight.ts). */
export const NEEDED: Permission = 'emails:read';

/** Somebody who looks, and what they may see. */
export interface InspectorSession extends Session {
  readonly visibility: Visibility;
}

/** What a ticket of the live view stands for. */
export interface Ticket {
  readonly subject: SessionSubject;
  /** When the session that asked for it ends: no other that comes of it lasts longer. Null for a printed link. */
  readonly endsAt: number | null;
}

/** A session, a link that nobody has opened yet, and a socket that was opened with a key last this long. */
const LASTS_MS = 3_600_000;

const UNKNOWN = new Failure('UNAUTHORIZED', 'This API key is not valid, or it was revoked.');
const SPENT = new Failure('UNAUTHORIZED', 'This link was opened before, or it is too old.', {
  suggestion: 'Restart the service for another link, or use an API key.',
});

/** Who may look, and for how long: exchanges keys and tickets for sessions, and asks again whether they still hold. */
export class InspectorSessions {
  constructor(
    private readonly sessions: Sessions,
    private readonly tickets: OneTimeTokens<Ticket>,
    private readonly authenticate: Authenticate,
    private readonly visibilityOf: SightOf,
    private readonly now: () => number,
  ) {}

  /** The cookie for a key, or for the ticket of a printed link. */
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

  /** A ticket that opens one session of its own. @throws Unavailable */
  link(subject: SessionSubject): Promise<string> {
    return this.tickets.issue({ subject, endsAt: null }, this.now() + LASTS_MS);
  }

  /** A ticket for a client that can send neither a cookie nor a header; it opens what this session opens, and no longer. */
  async ticketFor(headers: Headers): Promise<string | null> {
    const session = this.sessions.cookie.read(headers);
    return session && this.tickets.issue({ ...session, endsAt: session.expiresAt }, session.expiresAt);
  }

  /** The session of a request: its ticket, its cookie, or else a key in its Authorization header. */
  async of(headers: Headers, ticket: string | null): Promise<InspectorSession | null> {
    const session = ticket === null ? this.sessions.cookie.read(headers) : await this.#redeem(ticket);
    if (session) {
      const visibility = await this.look(session);
      return visibility && { ...session, visibility };
    }
    if (ticket !== null || !headers.has('authorization')) return null;
    const caller = await identify(headers, this.authenticate);
    if (caller instanceof Failure || !holds(caller.permissions, NEEDED)) return null;
    const expiresAt = this.now() + LASTS_MS;
    return { subject: subjectOf(caller), expiresAt, visibility: this.visibilityOf(caller.permissions) };
  }

  /** What a session may see now; null where it holds no longer. */
  async look(session: Session): Promise<Visibility | null> {
    const principal = await this.sessions.principalOf(session);
    return principal && holds(principal.permissions, NEEDED)
      ? this.visibilityOf(principal.permissions)
      : null;
  }

  /** When the session of these headers ends; null where they carry none. */
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
