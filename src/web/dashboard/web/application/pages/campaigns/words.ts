import type { Campaign, CampaignRecipient } from '../../../../../client/operations.ts';

/** The state of a campaign. */
type Status = Campaign['status'];

/** The states in words. */
export const STATUSES = {
  draft: 'Draft',
  scheduled: 'Scheduled',
  preparing: 'Preparing',
  sending: 'Sending',
  paused: 'Paused',
  sent: 'Sent',
  failed: 'Could not start',
  cancelled: 'Cancelled',
} as const satisfies Record<Status, string>;

/** Why a campaign is paused, and what to do. */
export const PAUSED = {
  manual: 'Paused by a member or an API key.',
  quota_exceeded: 'The monthly quota is used up. Resume with a larger plan, or next month.',
  bounce_rate:
    "Too many emails bounced. Check the recipients before you resume: such a list harms your domain's reputation.",
  complaint_rate: 'Too many recipients reported spam. Check your audience before you resume.',
  canary: 'The sample exceeded its bounce or complaint limits. Check it before you send the rest.',
  sender_unverified: "The sender's domain is no longer verified. Verify it, then resume.",
} as const satisfies Record<NonNullable<Campaign['pausedReason']>, string>;

/** Why a campaign could not start. */
export const FAILED = {
  sender_unverified: "The sender's domain is not verified.",
  sender_refused: 'The sender was refused.',
  audience_gone: 'The audience no longer exists, or one that its filter names.',
  audience_empty:
    'No contact in the audience may get it. Choose another audience, or add subscribed contacts.',
  content_refused: 'The content could not be rendered.',
} as const satisfies Record<NonNullable<Campaign['failureReason']>, string>;

/** The reasons for skipping a contact, or for a failure with an unknown outcome. */
export const SKIPPED = {
  forgotten: 'contact was deleted',
  suppressed: 'manually suppressed',
  unsubscribed: 'unsubscribed',
  bounced: 'address does not exist',
  complained: 'complained before',
  removed: 'removed from the audience',
  invalid: 'address is invalid',
  excluded: 'in an excluded audience',
  cancelled: 'the campaign was cancelled',
  in_doubt: 'possibly delivered',
} as const satisfies Record<NonNullable<CampaignRecipient['reason']>, string>;
