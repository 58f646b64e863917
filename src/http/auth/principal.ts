import type { PlanName } from '../../platform/config/plans.ts';
import { Failure } from '../../platform/errors/failure.ts';
import { holds, PERMISSIONS, type Permission } from './permissions.ts';
import type { Recollection } from './recollection.ts';
import type { Role } from './roles.ts';

/** The sender and the reply address of emails that name none; null where the workspace has none. */
export interface SenderDefaults {
  readonly from: string | null;
  readonly replyTo: string | null;
}

/** The members of every principal, whatever its credential. */
interface Identity {
  /** The id of the key, the member or the link. Requests and connections are counted by it. */
  readonly id: string;
  readonly workspaceId: string;
  readonly livemode: boolean;
  readonly permissions: readonly Permission[];
  /** The current plan of the workspace. */
  readonly plan: PlanName;
  /** The current defaults of the workspace, read with the plan, because accepting an email needs them. */
  readonly senderDefaults: SenderDefaults;
}

/** An API key, or a session that was opened with one. */
export interface KeyPrincipal extends Identity {
  readonly kind: 'key';
  /** The terms by which a commit can check the key (`TERMS`). */
  readonly terms?: string;
  /** Present for a key found for an earlier request. */
  readonly recollection?: Recollection;
}

/** A person who belongs to the workspace. */
export interface MemberPrincipal extends Identity {
  readonly kind: 'member';
  readonly accountId: string;
  /** The session that the request came with. */
  readonly sessionId: string;
  readonly role: Role;
  /** True when the role needs a second factor that the person lacks: everything is read-only then. */
  readonly needsSecondFactor: boolean;
  /** True when the workspace is archived: everything is read-only until it is restored. */
  readonly isArchived: boolean;
}

/** The operator of the service, who opened a link that it printed when it started. */
export interface OperatorLinkPrincipal extends Identity {
  readonly kind: 'operatorLink';
}

/** The party that makes a request. */
export type Principal = KeyPrincipal | MemberPrincipal | OperatorLinkPrincipal;

/** A kind of principal. A route states which kinds it accepts. */
export type PrincipalKind = Principal['kind'];

/**
 * The way to a permission depends on the caller: a key is changed, a member gets another role, a link has
 * neither.
 */
const LACKING = {
  key: {
    who: 'This API key',
    remedy: (needed: Permission, allows: string) =>
      `Use a key that holds ${needed} (${allows}), or add ${needed} to this key with PATCH /v1/api-keys/{id}.`,
  },
  member: {
    who: 'Your role in this workspace',
    remedy: (needed: Permission, allows: string) =>
      `Ask a member with members:write for a role that holds ${needed} (${allows}).`,
  },
  operatorLink: {
    who: 'The link that you signed in with',
    remedy: (needed: Permission, allows: string) =>
      `Sign in with an API key that holds ${needed} (${allows}).`,
  },
} as const satisfies Record<PrincipalKind, object>;

/** The refusal of a person whose role needs a second factor. */
export const SECOND_FACTOR_NEEDED = new Failure(
  'FORBIDDEN',
  'Your role in this workspace requires a second factor, and your account has none.',
  { suggestion: 'Set up an authenticator or a passkey under Your account in the dashboard.' },
);

/** The refusal of a change in an archived workspace: no other role would help. */
const archived = (needed: Permission): Failure =>
  new Failure('FORBIDDEN', `This workspace is archived, so the permission ${needed} is not available.`, {
    suggestion: 'An owner can restore it with PATCH {"archived": false} or in the dashboard.',
  });

/**
 * The refusal of a request that needs one more permission for its answer; null where the caller has it.
 */
export const lackOf = (needed: Permission, caller: Principal): Failure | null =>
  holds(caller.permissions, needed) ? null : lacking(needed, caller);

/** The refusal of a caller without a permission: it names the permission and the way to get it. */
export function lacking(
  needed: Permission,
  {
    kind,
    ...caller
  }: {
    readonly kind: PrincipalKind;
    readonly needsSecondFactor?: boolean;
    readonly isArchived?: boolean;
  },
): Failure {
  if (caller.isArchived) return archived(needed);
  if (caller.needsSecondFactor) return SECOND_FACTOR_NEEDED;
  const { who, remedy } = LACKING[kind];
  return new Failure('FORBIDDEN', `${who} lacks the permission ${needed}.`, {
    suggestion: remedy(needed, `it allows to ${PERMISSIONS[needed]}`),
  });
}
