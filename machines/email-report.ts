import type { ReportReceived } from './email-context.ts';
import type { FailureReason } from './email-recipient.ts';

/** The reason that a report makes its recipient fail for; null when it does not. */
export const reasonOfReport = ({
  type,
  permanent,
  expired,
}: ReportReceived['report']): FailureReason | null => {
  if (type !== 'bounced') return null;
  if (permanent === true) return 'bounced';
  return expired === true ? 'expired' : null;
};
