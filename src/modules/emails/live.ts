import type { Database } from '../../db/database.ts';
import type { Sealer } from '../../db/seal.ts';
import type { Signer } from '../../db/sign.ts';
import type { Clock } from '../../engine/clock-source.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { EnabledWays, Transport } from '../../transport/transport.ts';
import { personaliser } from '../tracking/commands.ts';
import { textFromHtml } from './content/text-part.ts';
import { LIVE_LIMITS, type LiveLimits, LivePerformer } from './live-performer.ts';
import { LiveReader } from './live-reading.ts';
import { rememberSenders } from './live-sender.ts';

/** What live mail is sent with. */
export interface LiveMailParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly sealer: Sealer;
  readonly signer: Signer;
  /** The ways out: the one of that name, or the default one. */
  transport(name: Transport['name'] | null): Transport;
  readonly enabled: EnabledWays;
  readonly publicUrl: string;
  readonly returnPathDomain: string | null;
  /** Attempts that run at once by each way. */
  readonly slots: number;
  readonly limits?: Partial<LiveLimits>;
}

/** Puts together what sends live mail. */
export function openLiveMail(parts: LiveMailParts): LivePerformer {
  const { database, clock, logger, sealer, signer, transport, enabled, publicUrl, slots } = parts;
  const { returnPathDomain } = parts;
  return new LivePerformer({
    clock,
    logger,
    signer,
    transport,
    enabled,
    reader: new LiveReader(database),
    limits: { ...LIVE_LIMITS, slots, ...parts.limits },
    senders: rememberSenders({
      ...{ database, sealer, enabled, returnPathDomain },
      monotonic: clock.monotonic,
      logger: parts.logger,
    }),
    personalise: personaliser({ signer, publicUrl, textFromHtml }),
  });
}
