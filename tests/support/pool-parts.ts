import { SiteLimits } from '../../src/mail/transport/limits/site-limits.ts';
import type { PoolParts } from '../../src/mail/transport/smtp/held-sessions.ts';

/** The surroundings of a pool to a server of which nothing is known yet. */
export const poolParts = (): PoolParts => {
  const monotonic = () => performance.now();
  return { monotonic, site: new SiteLimits({ now: Date.now, monotonic }) };
};
