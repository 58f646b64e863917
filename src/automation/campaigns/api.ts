import type { ForgettingHooks } from '../../audience/contacts/commands.ts';
import type { CampaignMail } from '../../sending/emails/api.ts';

/** The functions that campaigns give to other modules. */
export interface CampaignsApi extends Pick<ForgettingHooks, 'forgetRecipient' | 'commonSubjects'> {
  /** The content of campaigns' emails, and the gate that each recipient passes. */
  readonly campaignMail: CampaignMail;
  /**
   * The audience that a recipient can leave; null where a filter chooses, or the content is gone. @throws
   * UnavailableError
   */
  audienceOf(campaignId: string): Promise<string | null>;
}
