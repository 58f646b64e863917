import type { Permission } from './permissions.ts';
import type { PlanName } from './plans.ts';
import type { Principal, SenderDefaults } from './principal.ts';
import type { Session, SessionCookie, SessionSubject } from './session-cookie.ts';

/** The members of a principal that come from its workspace. */
export interface WorkspaceTerms {
  readonly plan: PlanName;
  readonly senderDefaults: SenderDefaults;
}

/** Finds the permissions of an active key and the terms of its workspace by the key's id; null when it was revoked. */
export type FindKey = (
  id: string,
) => Promise<({ readonly permissions: readonly Permission[] } & WorkspaceTerms) | null>;

/** Finds the terms of a workspace; null when there is no such workspace. */
export type FindTerms = (workspaceId: string) => Promise<WorkspaceTerms | null>;

/** The operator's link belongs to no key whose permissions could limit it. */
const UNBOUNDED: readonly Permission[] = ['*'];

/** Finds the principal behind a session. Its key and its permissions are read again at every request, so a revocation counts at once. */
export class Sessions {
  constructor(
    readonly cookie: SessionCookie,
    private readonly findKey: FindKey,
    private readonly findTerms: FindTerms,
    private readonly now: () => number,
  ) {}

  /** The principal of a request with a session cookie; null when there is no valid one. */
  principal = async (headers: Headers): Promise<Principal | null> => {
    const session = this.cookie.read(headers);
    return session && (await this.principalOf(session));
  };

  /** The principal of a session; null when the session has expired or its key was revoked. @throws Unavailable */
  async principalOf({ subject, expiresAt }: Session): Promise<Principal | null> {
    if (expiresAt <= this.now()) return null;
    const { kind, id, workspaceId, livemode } = subject;
    const bounds = await this.#boundsOf(subject);
    return bounds && { kind, id, workspaceId, livemode, ...bounds };
  }

  async #boundsOf({ kind, id, workspaceId }: SessionSubject): Promise<Awaited<ReturnType<FindKey>>> {
    if (kind === 'key') return await this.findKey(id);
    const terms = await this.findTerms(workspaceId);
    return terms && { permissions: UNBOUNDED, ...terms };
  }
}
