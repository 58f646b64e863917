import type { LifecycleName } from '../../../machines/catalogue.ts';
import { holds, type Permission } from '../../auth/permissions.ts';

/** What it takes to see the actors of a kind: what the API asks of whoever reads them there. */
const NEEDED_FOR: Readonly<Record<LifecycleName, Permission>> = {
  email: 'emails:read',
  apiKey: 'api-keys:read',
  webhookEndpoint: 'webhooks:read',
  webhookDelivery: 'webhooks:read',
  domain: 'domains:read',
};

/** The names of the kinds that somebody may see. Every other kind is absent for them, as one that does not exist is. */
export type Sight = ReadonlySet<string>;

/** What these permissions let one see. */
export const sightOf = (permissions: readonly Permission[]): Sight =>
  new Set(
    Object.entries(NEEDED_FOR)
      .filter(([, needed]) => holds(permissions, needed))
      .map(([kind]) => kind),
  );

/** Equal for sights of the same kinds. */
export const sightKey = (sight: Sight): string => [...sight].join(' ');

/** Refuses to begin with a kind that has no permission: it would be seen by nobody. */
export function requireSight(kinds: readonly { readonly name: string }[]): void {
  const blind = kinds.find(({ name }) => !Object.hasOwn(NEEDED_FOR, name));
  if (blind) throw new Error(`The live view does not know which permission the kind ${blind.name} needs.`);
}
