import type { ForgettingHooks } from '../../audience/contacts/commands.ts';
import type { CampaignMail } from '../../sending/emails/api.ts';

/** The functions that campaigns give to other modules. */
export interface CampaignsApi extends Pick<ForgettingHooks, 'forgetRecipient' | 'commonSubjects'> {
  /** The content of campaigns' emails, and the gate that each recipient passes. */
  readonly campaignMail: CampaignMail;
}
