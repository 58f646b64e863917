import type { Scope } from '../../engine/machine/result.ts';
import { holds, type Permission } from '../../http/auth/permissions.ts';

/** The names of the kinds that a viewer may see. All other kinds are answered as if they did not exist. */
export type Visibility = ReadonlySet<string>;

/** Finds the kinds that a set of permissions makes visible. */
export type VisibilityOf = (permissions: readonly Permission[]) => Visibility;

/** A kind and the permission that makes its actors visible. */
export interface VisibleKind {
  readonly kind: { readonly name: string };
  readonly permission: Permission;
}

/** Finds the kinds among these that a set of permissions makes visible. */
export const visibilityAmong =
  (kinds: readonly VisibleKind[]): VisibilityOf =>
  (permissions) =>
    new Set(kinds.filter(({ permission }) => holds(permissions, permission)).map(({ kind }) => kind.name));

/** A key that is equal for equal sets of kinds. */
export const visibilityKey = (visibility: Visibility): string => [...visibility].join(' ');

/** A key that is equal for equal environments. */
export const scopeKey = ({ workspaceId, livemode }: Scope): string => `${workspaceId} ${livemode}`;
