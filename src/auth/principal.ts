import type { Permission } from './permissions.ts';
import type { PlanName } from './plans.ts';

/** The members that every principal has, however it proved its identity. */
interface Identity {
  /** The id of the key, the member or the link. Requests and connections are counted by it. */
  readonly id: string;
  readonly workspaceId: string;
  readonly livemode: boolean;
  readonly permissions: readonly Permission[];
  /** The present plan of the workspace. */
  readonly plan: PlanName;
}

/** An API key, or a session that was opened with one. */
export interface KeyPrincipal extends Identity {
  readonly kind: 'key';
}

/** A person who belongs to the workspace. */
export interface MemberPrincipal extends Identity {
  readonly kind: 'member';
}

/** The operator of the service, who opened a link that it printed when it started. */
export interface OperatorLinkPrincipal extends Identity {
  readonly kind: 'operatorLink';
}

/** The party that makes a request. */
export type Principal = KeyPrincipal | MemberPrincipal | OperatorLinkPrincipal;

/** A kind of principal. A route states which kinds it accepts. */
export type PrincipalKind = Principal['kind'];
