import type { Campaign, CampaignRecipient } from '../../api/operations.ts';

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
  manual: 'Somebody paused it.',
  quota_exceeded:
    'The quota of the month is used up. It goes on when you resume it with a larger plan, or in the next month.',
  bounce_rate:
    'Too many of its emails bounced. Look at the recipients before you go on: such a list harms your domain.',
  complaint_rate: 'Too many people called it spam. Look at whom you write to before you go on.',
  canary: 'The first share did worse than the limits that were set. Look at it before the rest gets it.',
  sender_unverified: 'The domain of the sender is no longer verified. Verify it, and resume.',
} as const satisfies Record<NonNullable<Campaign['pausedReason']>, string>;

/** Why a campaign could not start. */
export const FAILED = {
  sender_unverified: 'The domain of its sender is not verified.',
  sender_refused: 'Its sender was refused.',
  audience_gone: 'Its audience is not there any more.',
  content_refused: 'Its content could not be rendered.',
} as const satisfies Record<NonNullable<Campaign['failureReason']>, string>;

/** Why somebody was left out, or failed without anyone knowing whether it arrived. */
export const SKIPPED = {
  forgotten: 'contact was deleted',
  suppressed: 'suppressed by hand',
  unsubscribed: 'has left',
  bounced: 'address does not exist',
  complained: 'complained before',
  removed: 'taken out of the audience',
  invalid: 'address is invalid',
  excluded: 'in an excluded audience',
  cancelled: 'the campaign was cancelled',
  in_doubt: 'may have arrived all the same',
} as const satisfies Record<NonNullable<CampaignRecipient['reason']>, string>;
