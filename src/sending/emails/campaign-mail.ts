import type { WithheldReason } from '../../../machines/email/recipient.ts';
import type { CampaignReference, Content } from './accept/message.ts';

/** The parts of one email of a campaign. */
export interface CampaignParts {
  /** Null where the email's row has it. */
  readonly subject: string | null;
  /** What the email's row is to say of it: without links that are the recipient's alone. Absent where the row says it. */
  readonly shownSubject?: string;
  readonly html: string | null;
  readonly text: string | null;
  /** Fields that tell mail programs what kind of mail it is. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  /** What the link to unsubscribe leaves. */
  readonly audienceId: string;
}

/** Whether the recipient of a campaign still gets it; why not. */
export type Leave = 'now' | { readonly skipped: WithheldReason };

/** How a campaign stands with what it has given out: it leaves, it waits, or it never leaves. */
export type CampaignSendState = 'sends' | 'held' | 'ended';

/** An email of a campaign, as far as it is asked about. */
export interface CampaignEmail {
  readonly emailId: string;
  readonly campaignId: string;
  readonly workspaceId: string;
  /** `Address.key` of its one recipient. */
  readonly recipientKey: string;
}

/** An email of a campaign with the subject that its row has. */
export interface ReadCampaignEmail extends CampaignEmail {
  readonly subject: string;
}

/** How emails of campaigns are made and held back. */
export interface CampaignMail {
  /** Decides if it may leave: the recipient may have left since it was accepted. @throws UnavailableError */
  mayLeave(email: CampaignEmail): Promise<Leave>;
  /**
   * How its campaign stands, as of a moment ago: asked before anything is done for the email, and again just before a session takes the
   * message, since it may have waited for one. @throws UnavailableError
   */
  standing(campaignId: string): Promise<CampaignSendState>;
  /**
   * What it says; the reason when it cannot be rendered for this person, null when its campaign's content is not there. Who is only
   * shown it must not act for the recipient: links that do lead nowhere. @throws UnavailableError
   */
  parts(
    email: ReadCampaignEmail,
    content: Content & { readonly campaign: CampaignReference },
    purpose: 'send' | 'show',
  ): Promise<CampaignParts | string | null>;
}

/** Whether a content is a campaign's. */
export const isOfCampaign = (
  content: Content,
): content is Content & { readonly campaign: CampaignReference } => content.campaign !== undefined;
