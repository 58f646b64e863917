import type { Permission } from './permissions.ts';
import type { PlanName } from './plans.ts';
import type { Principal } from './principal.ts';
import type { Session, SessionCookie, SessionSubject } from './session-cookie.ts';

/** Finds what an active key may do, and its workspace's plan, by its id; null when it was revoked. */
export type FindKey = (
  id: string,
) => Promise<{ readonly permissions: readonly Permission[]; readonly plan: PlanName } | null>;

/** Finds the plan of a workspace; null when there is no such workspace. */
export type FindPlan = (workspaceId: string) => Promise<PlanName | null>;

/** A link that the service has printed for its own operator has no key whose permissions could bound it. */
const UNBOUNDED: readonly Permission[] = ['*'];

/** Says who is behind a session now: what its key may do, and whether it still exists, is asked anew at every request. */
export class Sessions {
  constructor(
    readonly cookie: SessionCookie,
    private readonly findKey: FindKey,
    private readonly findPlan: FindPlan,
    private readonly now: () => number,
  ) {}

  /** Who makes a request that carries the cookie of a session; null where it carries none that still holds. */
  principal = async (headers: Headers): Promise<Principal | null> => {
    const session = this.cookie.read(headers);
    return session && (await this.principalOf(session));
  };

  /** Who a session stands for; null when it has ended, or its key has. @throws Unavailable */
  async principalOf({ subject, expiresAt }: Session): Promise<Principal | null> {
    if (expiresAt <= this.now()) return null;
    const { kind, id, workspaceId, livemode } = subject;
    const bounds = await this.#boundsOf(subject);
    return bounds && { kind, id, workspaceId, livemode, ...bounds };
  }

  async #boundsOf({ kind, id, workspaceId }: SessionSubject): Promise<Awaited<ReturnType<FindKey>>> {
    if (kind === 'key') return await this.findKey(id);
    const plan = await this.findPlan(workspaceId);
    return plan && { permissions: UNBOUNDED, plan };
  }
}
