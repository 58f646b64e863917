import type { Engine } from '../../engine/engine.ts';
import { TtlCache } from '../../platform/async/ttl-cache.ts';
import type { Database } from '../../platform/db/database.ts';
import { type ReceivingRoute, receivingHosts, routesOfDomain } from './queries.ts';

/**
 * Lifetime of an entry, after which changes of other instances count; changes of this process empty the cache
 * at once.
 */
const FRESH_MS = 1_000;
/** Domains that are remembered. */
const MOST = 10_000;

/** The routes of domains as RCPT asks for them. */
export interface ReceivingRoutes {
  /**
   * The live routes of a domain (lower-case ASCII), of every workspace, proven or not. @throws
   * UnavailableError
   */
  of(domain: string): Promise<readonly ReceivingRoute[]>;
  /** Forgets what is known: a route has changed. */
  clear(): void;
}

/**
 * `routesOfDomain` with a cache: a mailing to one domain asks the database once a second, and so do all names
 * without a route.
 */
export function receivingRoutes(
  database: Database,
  engine: Pick<Engine, 'listen'>,
  monotonic: () => number,
): ReceivingRoutes {
  const known = new TtlCache<readonly ReceivingRoute[]>({
    forMs: () => FRESH_MS,
    sharedMs: FRESH_MS,
    atMost: MOST,
    monotonic,
  });
  const hosts = new TtlCache<ReadonlySet<string>>({
    forMs: () => FRESH_MS,
    sharedMs: FRESH_MS,
    atMost: 1,
    monotonic,
  });
  const clear = () => {
    known.clear();
    hosts.clear();
  };
  engine.listen((kind) => {
    if (kind.name === 'domain') clear();
  });
  return {
    // Anyone may ask for any name: one that has no route causes no query.
    of: async (domain) => {
      const all = await hosts.get('', () => receivingHosts(database));
      return all.has(domain) ? known.get(domain, () => routesOfDomain(database, domain, true)) : [];
    },
    clear,
  };
}
