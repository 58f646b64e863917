import { isWhole, type Role, type Roles } from '../../platform/config/roles.ts';
import type { Kind } from '../machine/kind.ts';
import { type Share, WHOLE_SHARE } from './handing-over.ts';

/**
 * Who carries out a kind's orders: the processes of a role, or whichever has committed the order, where a request waits for what it
 * comes to. Of the latter the engine wakes what is due.
 */
export type CarriedOutBy = Exclude<Role, 'http'> | 'anybody';

/** What a process with these roles does of a kind. What actors offer themselves for is delivery's. */
export function shareOf(roles: Roles, by: CarriedOutBy, kind: Kind): Share {
  if (isWhole(roles)) return WHOLE_SHARE;
  const wakes = roles.includes(by === 'anybody' ? 'engine' : by);
  return {
    wakes,
    orders: wakes || by === 'anybody',
    offers: kind.offers ? roles.includes('delivery') : wakes,
  };
}
