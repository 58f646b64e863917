import type { RecipientProgress } from '../../../../machines/email/recipient.ts';
import type { ReportAction } from '../../../mail/compose/status-report.ts';
import type { Notify } from '../../../mail/message/asked-reports.ts';

/** An event of one recipient, as it is recorded. */
export interface ReportedEvent {
  readonly type: string;
  readonly data: {
    readonly response?: string;
    readonly message?: string;
    readonly enhancedCode?: string | null;
    readonly smtpCode?: number | null;
    readonly remoteMta?: string | null;
    readonly isUnreported?: true;
  };
}

/** The content of a report about a recipient. */
export interface News {
  readonly action: ReportAction;
  readonly status: string;
  readonly diagnostic: string;
  readonly isReply: boolean;
  readonly remoteMta: string | null;
}

/**
 * The report that is due about a recipient now; null while nothing is certain. `ended` when no report that
 * was asked for can still follow.
 */
export function newsOf(
  { status, reason }: Pick<RecipientProgress, 'status' | 'reason'>,
  events: readonly ReportedEvent[],
  notify: readonly Notify[],
  isSuccessTold: boolean,
): News | 'ended' | null {
  const last = (type: string) => events.findLast((event) => event.type === type)?.data;
  if (status === 'failed') return notify.includes('FAILURE') ? failure(last('bounced'), reason) : 'ended';
  const taken = last('sent');
  const delivered = last('delivered');
  const wantsSuccess = notify.includes('SUCCESS') && !isSuccessTold;
  // A server that was not asked for a report sends none: the mail was passed on beyond where reports are (RFC
  // 3461 5.2.2).
  if (wantsSuccess && taken?.isUnreported) return success('relayed', taken);
  if (wantsSuccess && delivered) return success('delivered', delivered);
  return delivered && !notify.includes('FAILURE') ? 'ended' : null;
}

const success = (action: 'relayed' | 'delivered', data: ReportedEvent['data']): News => ({
  action,
  status: '2.0.0',
  diagnostic: data.response ?? '',
  isReply: /^\d{3}\b/.test(data.response ?? ''),
  remoteMta: data.remoteMta ?? null,
});

const failure = (bounced: ReportedEvent['data'] | undefined, reason: string | null): News => {
  const { message, enhancedCode, smtpCode, remoteMta = null } = bounced ?? {};
  return {
    action: 'failed',
    status: enhancedCode ?? (reason === 'expired' ? '5.4.7' : '5.0.0'),
    diagnostic: message ?? `Nothing was sent: ${reason ?? 'rejected'}.`,
    isReply: typeof smtpCode === 'number',
    remoteMta,
  };
};
