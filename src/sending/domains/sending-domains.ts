import type { Engine } from '../../engine/engine.ts';
import { TtlCache } from '../../platform/async/ttl-cache.ts';
import type { Database } from '../../platform/db/database.ts';
import { domainKind } from './kind.ts';
import { findSendingDomain, type SendingDomain } from './queries.ts';

/**
 * Lifetime of an entry, after which changes of other instances count; changes of this process empty the cache
 * at once.
 */
const FRESH_MS = 1_000;
const MOST = 10_000;

/** Finds the domain that covers a sender's address. */
export type FindSendingDomain = (workspaceId: string, name: string) => Promise<SendingDomain | null>;

/**
 * `findSendingDomain` with a cache: a burst of mail from one domain asks the database once a second. Missing
 * domains are not cached, so that a domain which another instance has just verified may send at once.
 */
export function cachedSendingDomains(
  database: Database,
  engine: Pick<Engine, 'listen'>,
  monotonic: () => number,
): FindSendingDomain {
  const known = new TtlCache<SendingDomain | null>({
    forMs: (domain) => (domain ? FRESH_MS : 0),
    // A shared search may have begun before another instance verified the domain.
    sharedMs: 0,
    atMost: MOST,
    monotonic,
  });
  engine.listen((kind) => {
    if (kind.name === domainKind.name) known.clear();
  });
  return (workspaceId, name) =>
    known.get(`${workspaceId} ${name}`, () => findSendingDomain(database, workspaceId, name));
}
