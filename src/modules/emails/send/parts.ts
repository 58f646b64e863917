import type { EnabledTransports } from '../../../config/transport-names.ts';
import type { Signer } from '../../../crypto/signer.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import type { Clock } from '../../../time/clock.ts';
import type { Transport } from '../../../transport/transport.ts';
import type { CampaignMail } from '../campaign-mail.ts';
import type { BulkWriter } from './bulk-writer.ts';
import type { LiveLimits } from './limits.ts';
import type { Personalise } from './message.ts';
import type { LiveReader } from './reader.ts';
import type { Senders } from './senders.ts';
import type { SubjectWriter } from './subject-writer.ts';
import type { WarmUps } from './warm-ups.ts';

/** The services and limits that live mail is sent with. */
export interface LiveParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly reader: LiveReader;
  readonly subjects: SubjectWriter;
  readonly signer: Signer;
  readonly limits: LiveLimits;
  readonly senders: Senders;
  /** The transport of that name, or the default one. */
  transport(name: Transport['name'] | null): Transport;
  readonly personalise: Personalise;
  /** Writes the copies of campaigns. */
  readonly bulkWriter: BulkWriter;
  /** How emails of campaigns are made. */
  readonly campaigns: () => CampaignMail | undefined;
  /** The transports that mail may leave by, the default one first. */
  readonly enabled: EnabledTransports;
  readonly warmUps: WarmUps;
}
