import { SENDER_KNOWN_MS } from '../../../accounts/workspace/queries.ts';
import type { SigningKey } from '../../../mail/dkim/signing-key.ts';
import type { SigningThreads } from '../../../mail/dkim/signing-threads.ts';
import { LruMap } from '../../../platform/async/lru-map.ts';
import { TtlCache } from '../../../platform/async/ttl-cache.ts';
import type { EnabledTransports } from '../../../platform/config/transport-names.ts';
import type { Sealer } from '../../../platform/crypto/sealer.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import { rarely } from '../../../platform/telemetry/rarely.ts';
import {
  findDomainOfEmail,
  findReplacement,
  type SendingDomain,
  signingKeys,
} from '../../domains/queries.ts';
import type { Sender } from '../send/message.ts';
import type { Routing } from '../send/reader.ts';

/** The services and settings that a domain's sender is looked up with. */
export interface SenderParts {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly monotonic: () => number;
  /** The transports that mail may leave by. */
  readonly enabled: EnabledTransports;
  /** The host that takes bounces for domains without a return path; null without one. */
  readonly returnPathDomain: string | null;
  /** True where this service receives mail. */
  readonly receives: boolean;
  readonly logger: Logger;
  /** The threads that sign; without them the runtime's pool does. */
  readonly signing?: SigningThreads;
}

/**
 * The reason that a domain cannot send: for good, or until its workspace, its DNS, its transport or
 * SECRET_KEY is right again.
 */
export type SenderProblem = 'removed' | 'archived' | 'unverified' | 'transportDisabled' | 'keysSealed';

/** The most domains whose opened keys are kept: opening them takes milliseconds. */
const KEPT = 1_000;

/** Looks up the settings that domains send with. */
export interface Senders {
  /** The sender of a domain, or the reason that it cannot send. @throws UnavailableError */
  find(domainId: string): Promise<Sender | SenderProblem>;
  /**
   * The sender of an email. What a campaign has given out outlives its domain, as the campaign does: it waits
   * until one of that name is verified again, where any other email fails. @throws UnavailableError
   */
  ofEmail(email: Routing): Promise<Sender | SenderProblem>;
  /** Empties the cache, because a domain has changed. */
  forget(): void;
}

/** Looks up senders in the database, through a cache. */
export function cachedSenders({
  database,
  sealer,
  monotonic,
  enabled,
  returnPathDomain,
  receives,
  logger,
  signing,
}: SenderParts): Senders {
  const warn = rarely(logger, monotonic);
  const senders = new TtlCache<Sender | SenderProblem>({
    forMs: () => SENDER_KNOWN_MS,
    sharedMs: SENDER_KNOWN_MS,
    atMost: KEPT,
    monotonic,
  });
  const opened = new LruMap<string, { readonly sealed: string; readonly keys: readonly SigningKey[] }>({
    entries: KEPT,
  });

  const keysOf = ({ id, keys }: SendingDomain): readonly SigningKey[] => {
    if (keys === null) return [];
    const sealed = JSON.stringify(keys);
    const known = opened.get(id);
    if (known?.sealed === sealed) return known.keys;
    const fresh = signingKeys(sealer, keys).map((key) =>
      signing ? { ...key, signWith: (data: Buffer) => signing.sign(key, data) } : key,
    );
    opened.set(id, { sealed, keys: fresh });
    return fresh;
  };

  const senderOf = (domain: SendingDomain): Sender | SenderProblem => {
    if (domain.archived) return 'archived';
    if (!domain.maySend) return 'unverified';
    // Mail waits for the transport that its owner chose: mail that left by another one could not be called
    // back.
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
      domainId: domain.id,
      dkim,
      returnPath: domain.returnPath ?? returnPathDomain ?? domain.name,
      receives: receives && (domain.returnPath ?? returnPathDomain) !== null,
      trackingHost: domain.trackingDomain,
      openTracking: domain.openTracking,
      clickTracking: domain.clickTracking,
      provider: domain.provider,
      fallbacks: domain.fallbacks.filter((name) => enabled.includes(name)),
      warmUps: domain.warmUps,
    };
  };

  const find = (domainId: string): Promise<Sender | SenderProblem> =>
    senders.get(domainId, async () => {
      const domain = await findDomainOfEmail(database, domainId);
      return !domain || domain.removed ? 'removed' : senderOf(domain);
    });

  const replacing = (removedId: string): Promise<Sender | SenderProblem> =>
    senders.get(`replacing ${removedId}`, async () => {
      const domain = await findReplacement(database, removedId);
      return domain ? senderOf(domain) : 'unverified';
    });

  const ofEmail = async ({ domain_id: id, campaign_id: campaignId = null }: Routing) => {
    const sender = id === null ? 'removed' : await find(id);
    return sender === 'removed' && id !== null && campaignId !== null ? replacing(id) : sender;
  };

  return {
    find,
    ofEmail,
    // A read that is under way fills the old cache, which is not read any more.
    forget: () => senders.clear(),
  };
}
