import type { Permission } from './permissions.ts';
import type { PlanName } from './plans.ts';

/** What holds for whoever makes a request, however they proved who they are. */
interface Identity {
  /** Of the key, the member or the link: what requests and connections are counted by. */
  readonly id: string;
  readonly workspaceId: string;
  readonly livemode: boolean;
  readonly permissions: readonly Permission[];
  /** The plan that the workspace is on now. */
  readonly plan: PlanName;
}

/** An API key, or a session that was opened with one. */
export interface KeyPrincipal extends Identity {
  readonly kind: 'key';
}

/** A person of the workspace. */
export interface MemberPrincipal extends Identity {
  readonly kind: 'member';
}

/** Whoever opened a link that the service printed for its own operator. */
export interface OperatorLinkPrincipal extends Identity {
  readonly kind: 'operatorLink';
}

/** Who makes a request. */
export type Principal = KeyPrincipal | MemberPrincipal | OperatorLinkPrincipal;

/** The sorts of principal; a route states which of them it takes. */
export type PrincipalKind = Principal['kind'];
