import { holds, type Permission } from '../../auth/permissions.ts';

/** The names of the kinds that somebody may see. Every other kind is absent for them, as one that does not exist is. */
export type Visibility = ReadonlySet<string>;

/** What permissions let one see. */
export type SightOf = (permissions: readonly Permission[]) => Visibility;

/** A kind, and what it takes to see its actors. */
export interface VisibleKind {
  readonly kind: { readonly name: string };
  readonly permission: Permission;
}

/** What permissions let one see of these kinds. */
export const sightsOf =
  (kinds: readonly VisibleKind[]): SightOf =>
  (permissions) =>
    new Set(kinds.filter(({ permission }) => holds(permissions, permission)).map(({ kind }) => kind.name));

/** Equal for sights of the same kinds. */
export const visibilityKey = (visibility: Visibility): string => [...visibility].join(' ');
