import type { ClockedActors } from '../../engine/runtime/clocked.ts';
import type { MailRoom } from '../../mail/submission/mail-room.ts';
import type { AcceptanceDeps } from './accept.ts';
import type { RoomForBulk } from './bulk/bulk-room.ts';
import type { RecordFeedback } from './feedback/record-feedback.ts';
import type { DirectMail } from './transports/direct-mail.ts';

export type { CampaignMail } from './campaign-mail.ts';
export type { TestClocks } from './clocked/clock-of-email.ts';

/** The functions that emails give to other modules. */
export interface EmailsApi {
  readonly acceptance: AcceptanceDeps;
  /** The memory and the turns of messages that stay what they are. */
  readonly mailRoom: MailRoom;
  readonly clockedEmails: ClockedActors;
  /** The number of campaign emails that may be given out now. */
  readonly bulkRoom: RoomForBulk;
  /**
   * About how many recipients of a campaign from that domain have room in its warm-up on this day; null
   * without a limit. @throws UnavailableError
   */
  warmUpRoom(domainId: string): Promise<number | null>;
  /** Has live emails of a domain that wait for its warm-up ask again now. @throws UnavailableError */
  releaseWaiting(domain: { readonly id: string; readonly workspaceId: string }): Promise<void>;
  /** Sends a message that is no email of a workspace. */
  readonly directMail: DirectMail;
  readonly recordFeedback: RecordFeedback;
}
