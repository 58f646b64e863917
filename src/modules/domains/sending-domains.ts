import type { Database } from '../../db/database.ts';
import type { Engine } from '../../engine/engine.ts';
import { domainKind } from './kind.ts';
import { findSendingDomain, type SendingDomain } from './queries.ts';

/** What another instance has changed holds here after so long; what this one changes, at once. */
const FRESH_MS = 1_000;
const MOST = 10_000;

/** Finds the domain that an address may be sent from, as every live send asks. */
export type FindSendingDomain = (workspaceId: string, name: string) => Promise<SendingDomain | null>;

/**
 * `findSendingDomain` with a short memory: a burst of mail from one domain asks the database once a second. Only what was found
 * is remembered, so that a domain which has just been verified may send at once, whichever instance saw it.
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
    // A change that commits while this is read gets a new map; what was read before it goes into the old one.
    const current = known;
    const domain = await findSendingDomain(database, workspaceId, name);
    if (!domain) return null;
    if (current.size >= MOST) current.clear();
    current.set(key, { domain, until: monotonic() + FRESH_MS });
    return domain;
  };
}
