import { TtlCache } from '../../../async/ttl-cache.ts';
import type { Sealer } from '../../../crypto/sealer.ts';
import type { Database } from '../../../db/database.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import { rarely } from '../../../telemetry/rarely.ts';
import type { SigningKey } from '../../../transport/dkim/signing-key.ts';
import type { EnabledTransports } from '../../../transport/transport.ts';
import { findDomainOfEmail, type SendingDomain, signingKeys } from '../../domains/queries.ts';
import type { Sender } from './message.ts';

/** What is needed to find out what a domain sends with. */
export interface SenderParts {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly monotonic: () => number;
  /** The ways that mail may leave by. */
  readonly enabled: EnabledTransports;
  /** Takes bounces for domains without a return path of their own; null where none does. */
  readonly returnPathDomain: string | null;
  readonly logger: Logger;
}

/** Why a domain cannot send: for good, or until its DNS, its way out, or the key that opens its DKIM keys is in order again. */
export type SenderProblem = 'removed' | 'unverified' | 'transportDisabled' | 'keysSealed';

/** What another instance has changed holds here after so long; what this one changes, at once. A burst of mail asks once. */
const FRESH_MS = 1_000;
/** Domains whose opened keys are kept: opening them takes milliseconds. */
const KEPT = 1_000;

/** Knows what domains send with. */
export interface Senders {
  /** What a domain sends with, or why it cannot. @throws Unavailable */
  find(domainId: string): Promise<Sender | SenderProblem>;
  /** A domain has changed: what is known may not be true any more. */
  forget(): void;
}

/** Finds what the domains of emails send with. */
export function cachedSenders({
  database,
  sealer,
  monotonic,
  enabled,
  returnPathDomain,
  logger,
}: SenderParts): Senders {
  const warn = rarely(logger, monotonic);
  const memory = () =>
    new TtlCache<Sender | SenderProblem>({ forMs: () => FRESH_MS, atMost: KEPT, monotonic });
  let senders = memory();
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

  const find = (domainId: string): Promise<Sender | SenderProblem> =>
    senders.get(domainId, async () => {
      const domain = await findDomainOfEmail(database, domainId);
      if (!domain || domain.removed) return 'removed';
      if (!domain.maySend) return 'unverified';
      // Mail that left by another way than its owner chose could not be called back; mail that waits can still leave.
      if (domain.provider !== null && !enabled.includes(domain.provider)) return 'transportDisabled';
      let dkim: readonly SigningKey[];
      try {
        dkim = keysOf(domain);
      } catch (error) {
        warn(
          { domain: domain.id, reason: String(error) },
          'The DKIM keys of a domain cannot be opened, so its mail is put off: SECRET_KEY is not the key that they were sealed with.',
        );
        return 'keysSealed';
      }
      return {
        dkim,
        returnPath: domain.returnPath ?? returnPathDomain ?? domain.name,
        trackingHost: domain.trackingDomain,
        openTracking: domain.openTracking,
        clickTracking: domain.clickTracking,
        provider: domain.provider,
      };
    });

  return {
    find,
    // What is being read meanwhile goes into the old memory, where nobody finds it.
    forget() {
      senders = memory();
    },
  };
}
