import { isWhole, type Role, type Roles } from '../../platform/config/roles.ts';
import type { Kind } from '../machine/kind.ts';
import { type Share, WHOLE_SHARE } from './handing-over.ts';

/**
 * The processes that carry out a kind's orders: those of a role, or the one that has committed the order,
 * where a request waits for its outcome. Of the latter the engine wakes the due actors.
 */
export type CarriedOutBy = Exclude<Role, 'http'> | 'anybody';

/**
 * A process's share in a kind, by its roles. Work that actors offer themselves for belongs to the role
 * `delivery`.
 */
export function shareOf(roles: Roles, by: CarriedOutBy, kind: Kind): Share {
  if (isWhole(roles)) return WHOLE_SHARE;
  const wakes = roles.includes(by === 'anybody' ? 'engine' : by);
  return {
    wakes,
    orders: wakes || by === 'anybody',
    offers: kind.offers ? roles.includes('delivery') : wakes,
  };
}
