import { type Authenticate, identify, identifyKey } from '../../http/authenticate.ts';
import { Failure } from '../../http/failure.ts';
import { holds, lacking, type Permission } from '../../http/permissions.ts';
import type { Caller } from '../../http/route.ts';
import type { OpenSession, Sessions } from './session.ts';
import { type Sight, sightOf } from './sight.ts';

/** What it takes to look at all; what is seen then is another matter (sight.ts). */
export const NEEDED: Permission = 'emails:read';

/** A link that the service has printed for its own operator has no key whose permissions could bound it. */
const UNBOUNDED: readonly Permission[] = ['*'];

/** Somebody who looks, and what they may see. */
export interface Visit extends OpenSession {
  readonly sight: Sight;
}

/** Finds the active key of that id; null when it was revoked. */
export type FindKey = (id: string) => Promise<Pick<Caller, 'permissions'> | null>;

/** Stands for the key of a session that a printed link has opened: it counts requests, and names no key. */
const LINKED = 'link ';
const isKey = (keyId: string): boolean => !keyId.startsWith(LINKED);

/** A socket that was opened with a key itself lasts as long as a session would. */
const SOCKET_MS = 3_600_000;

const UNKNOWN = new Failure('UNAUTHORIZED', 'This API key is not valid, or it was revoked.');
const SPENT = new Failure('UNAUTHORIZED', 'This link was opened before, or it is too old.', {
  suggestion: 'Restart the service for another link, or use an API key.',
});

/** Who may look, and for how long: exchanges keys and tickets for sessions, and asks again whether a key still holds. */
export class Visits {
  constructor(
    private readonly sessions: Sessions,
    private readonly authenticate: Authenticate,
    private readonly findKey: FindKey,
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
      const session = await this.sessions.redeem(ticket);
      return session ? this.sessions.open(session, session.expiresAt) : SPENT;
    }
    const caller = await identifyKey(key ?? '', this.authenticate);
    if (caller instanceof Failure) return UNKNOWN;
    if (!holds(caller.permissions, NEEDED)) return lacking(NEEDED);
    return this.sessions.open(caller);
  }

  end(): string {
    return this.sessions.close();
  }

  /** A ticket for a client that can send neither a cookie nor a header; it may see what the caller may, and no longer. */
  ticketFor({ workspaceId, livemode, keyId }: Caller, headers: Headers): string {
    const scope = { workspaceId, livemode, keyId: isKey(keyId) ? keyId : null };
    return this.sessions.ticket(scope, this.endOf(headers) ?? this.now());
  }

  /** The session of a request: its ticket, its cookie, or else a key in its Authorization header. */
  async of(headers: Headers, ticket: string | null): Promise<Visit | null> {
    const session = ticket === null ? this.sessions.read(headers) : await this.sessions.redeem(ticket);
    if (session) {
      const sight = await this.look(session);
      return sight && { ...session, sight };
    }
    if (ticket !== null || !headers.has('authorization')) return null;
    const caller = await identify(headers, this.authenticate);
    if (caller instanceof Failure || !holds(caller.permissions, NEEDED)) return null;
    const { workspaceId, livemode, keyId, permissions } = caller;
    const expiresAt = this.now() + SOCKET_MS;
    return { workspaceId, livemode, keyId, expiresAt, sight: sightOf(permissions) };
  }

  /** What a session may see now; null where it holds no longer. */
  async look(session: OpenSession): Promise<Sight | null> {
    const permissions = await this.#permissionsOf(session);
    return permissions && sightOf(permissions);
  }

  /** The permissions that the key of a session has now; null when the session has ended, or its key has. */
  async #permissionsOf({ keyId, expiresAt }: OpenSession): Promise<readonly Permission[] | null> {
    if (expiresAt <= this.now()) return null;
    if (keyId === null) return UNBOUNDED;
    const key = await this.findKey(keyId);
    return key && holds(key.permissions, NEEDED) ? key.permissions : null;
  }

  /** Who calls with a session cookie, as the HTTP pipeline knows callers. */
  caller = async (headers: Headers): Promise<Caller | null> => {
    const session = this.sessions.read(headers);
    const permissions = session && (await this.#permissionsOf(session));
    if (!permissions) return null;
    const { workspaceId, livemode, keyId } = session;
    return {
      keyId: keyId ?? LINKED + workspaceId,
      workspaceId,
      livemode,
      permissions,
      plan: 'free',
    };
  };

  /** When the session of these headers ends; null where they carry none. */
  endOf(headers: Headers): number | null {
    return this.sessions.read(headers)?.expiresAt ?? null;
  }
}
