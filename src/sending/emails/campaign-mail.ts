import type { WithheldReason } from '../../../machines/email/recipient.ts';
import type { CampaignReference, Content } from './accept/message.ts';

/** The parts of one email of a campaign. */
export interface CampaignParts {
  /** Null where the email's row has it. */
  readonly subject: string | null;
  /**
   * The content for the row of the email, without links that belong to the recipient. Absent where the row
   * has it.
   */
  readonly shownSubject?: string;
  readonly html: string | null;
  readonly text: string | null;
  /** Fields that tell mail programs what kind of mail it is. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  /**
   * The version of the template that the campaign started with; null without a template, or where it was not
   * kept.
   */
  readonly templateVersion: number | null;
  /** The audience that the link to unsubscribe leaves. */
  readonly audienceId: string;
}

/** The decision whether the recipient of a campaign still gets it, with the reason. */
export type Leave = 'now' | { readonly skipped: WithheldReason };

/** The state of a campaign for its accepted emails: they leave, they wait, or they never leave. */
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

/** Makes and holds back emails of campaigns. */
export interface CampaignMail {
  /** Decides if it may leave: the recipient may have left since it was accepted. @throws UnavailableError */
  mayLeave(email: CampaignEmail): Promise<Leave>;
  /**
   * The state of its campaign, at most a moment old: read before any work for the email, and again just
   * before a session takes the message, since the email may have waited for one. @throws UnavailableError
   */
  standing(campaignId: string): Promise<CampaignSendState>;
  /**
   * Renders its content; the reason when that fails for this person, null when the content of its campaign is
   * missing. A reader must not act for the recipient, so links that would lead nowhere. @throws
   * UnavailableError
   */
  parts(
    email: ReadCampaignEmail,
    content: Content & { readonly campaign: CampaignReference },
    purpose: 'send' | 'show',
  ): Promise<CampaignParts | string | null>;
}

/** True for the content of a campaign. */
export const isOfCampaign = (
  content: Content,
): content is Content & { readonly campaign: CampaignReference } => content.campaign !== undefined;
