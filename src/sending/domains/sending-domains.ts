import type { Engine } from '../../engine/engine.ts';
import type { Database } from '../../platform/db/database.ts';
import { domainKind } from './kind.ts';
import { findSendingDomain, type SendingDomain } from './queries.ts';

/** Lifetime of an entry, after which changes of other instances count; changes of this process empty the cache at once. */
const FRESH_MS = 1_000;
const MOST = 10_000;

/** Finds the domain that covers a sender's address. */
export type FindSendingDomain = (workspaceId: string, name: string) => Promise<SendingDomain | null>;

/**
 * `findSendingDomain` with a cache: a burst of mail from one domain asks the database once a second. Missing domains are not
 * cached, so that a domain which another instance has just verified may send at once.
 */
export function cachedSendingDomains(
  database: Database,
  engine: Pick<Engine, 'listen'>,
  monotonic: () => number,
): FindSendingDomain {
  let known = new Map<string, { readonly domain: SendingDomain; readonly until: number }>();
  engine.listen((kind) => {
    if (kind.name === domainKind.name) known = new Map();
  });
  return async (workspaceId, name) => {
    const key = `${workspaceId} ${name}`;
    const remembered = known.get(key);
    if (remembered && remembered.until > monotonic()) return remembered.domain;
    // A change replaces the map. A domain that was read before the change goes into the old map, which no
    // call reads any more.
    const current = known;
    const domain = await findSendingDomain(database, workspaceId, name);
    if (!domain) return null;
    if (current.size >= MOST) current.clear();
    current.set(key, { domain, until: monotonic() + FRESH_MS });
    return domain;
  };
}
