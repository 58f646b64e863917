import type { SigningThreads } from '../../../mail/dkim/signing-threads.ts';
import type { Transport } from '../../../mail/transport/transport.ts';
import type { EnabledTransports } from '../../../platform/config/transport-names.ts';
import type { Signer } from '../../../platform/crypto/signer.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import type { BulkWriter } from '../bulk/bulk-writer.ts';
import type { CampaignMail } from '../campaign-mail.ts';
import type { LeftMessage } from '../raw/left-message.ts';
import type { LiveLimits } from '../transports/limits.ts';
import type { Senders } from '../transports/senders.ts';
import type { WarmUps } from '../warm-up/warm-ups.ts';
import type { Personalise } from './message.ts';
import type { PreparingParts } from './prepare.ts';
import type { LiveReader } from './reader.ts';
import type { SubjectWriter } from './subject-writer.ts';

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
  /**
   * The same with links that lead nowhere: a message that is shown to others must not act for its recipient.
   */
  readonly powerless: Personalise;
  /** Makes messages again, for those who are to see them. */
  readonly leftMessage: LeftMessage;
  readonly mayForward: PreparingParts['mayForward'];
  /** Writes the copies of campaigns. */
  readonly bulkWriter: BulkWriter;
  /** Signs all other copies. */
  readonly signing: Pick<SigningThreads, 'close'>;
  /** Renders emails of campaigns. */
  readonly campaigns: () => CampaignMail | undefined;
  /** The transports that mail may leave by, the default one first. */
  readonly enabled: EnabledTransports;
  readonly warmUps: WarmUps;
}
