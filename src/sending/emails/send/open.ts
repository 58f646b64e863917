import { textFromHtml } from '../../../mail/content/text-part.ts';
import { signingThreads } from '../../../mail/dkim/signing-threads.ts';
import type { Transport } from '../../../mail/transport/transport.ts';
import type { BodyStore } from '../../../platform/bodies/body-store.ts';
import type { EnabledTransports } from '../../../platform/config/transport-names.ts';
import type { Sealer } from '../../../platform/crypto/sealer.ts';
import type { Signer } from '../../../platform/crypto/signer.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import { personaliser } from '../../tracking/commands.ts';
import { bulkWriter } from '../bulk/bulk-writer.ts';
import type { CampaignMail } from '../campaign-mail.ts';
import { leftMessages } from '../raw/left-message.ts';
import { LIVE_LIMITS, type LiveLimits } from '../transports/limits.ts';
import { cachedSenders } from '../transports/senders.ts';
import { WarmUps } from '../warm-up/warm-ups.ts';
import { LivePerformer } from './performer.ts';
import type { PreparingParts } from './prepare.ts';
import { LiveReader } from './reader.ts';
import { SubjectWriter } from './subject-writer.ts';

/** The services and settings that live mail is sent with. */
export interface LiveMailParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly sealer: Sealer;
  readonly signer: Signer;
  /** The store of large contents; null for the database. */
  readonly bodies: BodyStore | null;
  /** The transport of that name, or the default one. */
  transport(name: Transport['name'] | null): Transport;
  readonly enabled: EnabledTransports;
  readonly publicUrl: string;
  readonly returnPathDomain: string | null;
  /** True where this service receives mail. */
  readonly receives: boolean;
  /** Attempts that run at once over each transport. */
  readonly slots: number;
  readonly limits?: Partial<LiveLimits>;
  /** True for a distributed database. */
  readonly isOnNodes: boolean;
  /** Renders emails of campaigns; called at each attempt, since campaigns are connected after emails. */
  readonly campaigns: () => CampaignMail | undefined;
  readonly mayForward: PreparingParts['mayForward'];
}

/** Signs links so that they lead nowhere. */
const POWERLESS = { sign: () => Buffer.alloc(16) };

export function openLiveMail(parts: LiveMailParts): LivePerformer {
  const { database, clock, logger, sealer, signer, transport, enabled, publicUrl, slots } = parts;
  const { returnPathDomain, receives, campaigns, mayForward } = parts;
  const personalise = personaliser({ signer, publicUrl, textFromHtml });
  const reader = new LiveReader(database, signer, parts.bodies, parts.isOnNodes);
  const signing = signingThreads({ logger, monotonic: clock.monotonic });
  const senders = cachedSenders({
    database,
    sealer,
    enabled,
    returnPathDomain,
    receives,
    signing,
    monotonic: clock.monotonic,
    logger,
  });
  const powerless = personaliser({ signer: POWERLESS, publicUrl, textFromHtml });
  return new LivePerformer({
    clock,
    logger,
    signer,
    transport,
    enabled,
    reader,
    subjects: new SubjectWriter(database),
    limits: { ...LIVE_LIMITS, slots, bulkSlots: slots, ...parts.limits },
    campaigns,
    mayForward,
    senders,
    signing,
    warmUps: new WarmUps(database, clock),
    personalise,
    powerless,
    leftMessage: leftMessages({
      reader,
      senders,
      campaigns,
      personalise: powerless,
      now: () => clock.now(),
    }),
    bulkWriter: bulkWriter({ signer, publicUrl, personalise, logger, monotonic: clock.monotonic }),
  });
}
