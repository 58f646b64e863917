import type { Database } from '../../db/database.ts';
import type { Sealer } from '../../db/seal.ts';
import { ShortMemory } from '../../transport/direct/short-memory.ts';
import type { SigningKey } from '../../transport/dkim/signing-key.ts';
import { findDomainOfEmail, type SendingDomain, signingKeys } from '../domains/queries.ts';
import type { Sender } from './live-message.ts';

/** What is needed to find out what a domain sends with. */
export interface SenderParts {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly monotonic: () => number;
  /** Takes bounces for domains without a return path of their own; null where none does. */
  readonly returnPathDomain: string | null;
}

/** Why a domain cannot send: for good, or until its DNS is in order again. */
export type Unfit = 'removed' | 'unverified';

/** A change of a domain holds from the next second on; a burst of mail asks once. */
const FRESH_MS = 1_000;
/** Domains whose opened keys are kept: opening them takes milliseconds. */
const KEPT = 1_000;

/** Finds what the domains of emails send with. @throws Unavailable */
export function senderFinder({
  database,
  sealer,
  monotonic,
  returnPathDomain,
}: SenderParts): (domainId: string) => Promise<Sender | Unfit> {
  const senders = new ShortMemory<Sender | Unfit>({ forMs: () => FRESH_MS, atMost: KEPT, monotonic });
  const opened = new Map<string, { readonly sealed: string; readonly keys: readonly SigningKey[] }>();

  const keysOf = ({ id, keys }: SendingDomain): readonly SigningKey[] => {
    if (keys === null) return [];
    const sealed = JSON.stringify(keys);
    const known = opened.get(id);
    if (known?.sealed === sealed) return known.keys;
    const [oldest] = opened.keys();
    if (opened.size >= KEPT && oldest !== undefined) opened.delete(oldest);
    const fresh = signingKeys(sealer, keys);
    opened.set(id, { sealed, keys: fresh });
    return fresh;
  };

  return (domainId) =>
    senders.get(domainId, async () => {
      const domain = await findDomainOfEmail(database, domainId);
      if (!domain || domain.removed) return 'removed';
      if (!domain.maySend) return 'unverified';
      return {
        dkim: keysOf(domain),
        returnPath: domain.returnPath ?? returnPathDomain ?? domain.name,
        trackingHost: domain.trackingDomain,
        openTracking: domain.openTracking,
        clickTracking: domain.clickTracking,
        provider: null,
      };
    });
}
