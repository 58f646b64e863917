import type { CampaignContext } from '../../../machines/campaign/context.ts';
import type { Engine } from '../../engine/engine.ts';
import type { MailReader } from '../../mail/reading/mail-reader.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Reads } from '../../platform/db/reads.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import type { Clock } from '../../platform/time/clock.ts';
import type { ChecksApi } from '../../sending/checks/api.ts';
import type { AcceptanceDeps } from '../../sending/emails/accept.ts';
import type { RoomForBulk } from '../../sending/emails/queries.ts';
import type { IsMember, TemplateContents } from '../templates/commands.ts';

/** The services that campaigns call. */
export interface CampaignDeps {
  readonly database: Database;
  readonly reads: Reads;
  readonly engine: Engine;
  readonly signer: Signer;
  readonly contents: TemplateContents;
  readonly acceptance: AcceptanceDeps;
  readonly isMember: IsMember;
  /**
   * Drops the cached state of a campaign: after the answer to a pause or a cancel this instance sends nothing
   * more for it.
   */
  readonly forgetStanding: (campaignId: string) => void;
  /** This service's own address, without a slash at its end. */
  readonly publicUrl: string;
  readonly mailReader: Pick<MailReader, 'warnings'>;
  readonly check: ChecksApi['check'];
  /** Previews and checks a minute and client address; 0 is no limit. */
  readonly previewsPerMinute: number;
}

/** One turn of work on a campaign. */
export interface Turn {
  readonly campaignId: string;
  readonly workspaceId: string;
  readonly context: CampaignContext;
  /** True when the turn has to end: the service stops, or other campaigns have to have theirs. */
  isOver(): boolean;
}

/** Percentages above which a guard stops a campaign; 0 turns a guard off. */
export interface GuardLimits {
  readonly bounceRate: number;
  readonly complaintRate: number;
}

export interface DispatchDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly contents: TemplateContents;
  /** Asked at each turn: emails are connected when the performer begins. */
  readonly acceptance: () => AcceptanceDeps;
  /** The number of emails that may be dispatched now. */
  readonly bulkRoom: RoomForBulk;
  /**
   * About how many from that domain have room in its warm-up on this day; null without a limit. @throws
   * UnavailableError
   */
  readonly warmUpRoom: (domainId: string) => Promise<number | null>;
  readonly guards: GuardLimits;
}
