import type { EmailEventType, RecipientOutcome } from './recipient.ts';

/** A receiver's report, without the recipient. */
export interface SimulatedReportOf {
  readonly type: Exclude<EmailEventType, 'sent'>;
  readonly permanent?: boolean;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The server that receives simulated mail. */
export const SIMULATED_MTA = 'mx.simulator.svc.test';
/** The reply of the receiver of simulated mail. */
export const SIMULATED_ACCEPTANCE = '250 2.0.0 Accepted by the simulator';
const BROWSER = 'Posthorn simulator';

/** Each report that a receiver of simulated mail can send after it has taken the message. */
export const SIMULATED_REPORTS = {
  delivered: { type: 'delivered', data: { remoteMta: SIMULATED_MTA, response: SIMULATED_ACCEPTANCE } },
  opened: { type: 'opened', data: { userAgent: BROWSER, via: null } },
  clicked: { type: 'clicked', data: { url: 'https://example.com/', userAgent: BROWSER, via: null } },
  bounced: {
    type: 'bounced',
    permanent: true,
    data: {
      subType: 'NoEmail',
      smtpCode: 550,
      enhancedCode: '5.1.1',
      message: '550 5.1.1 No such mailbox',
      remoteMta: SIMULATED_MTA,
    },
  },
  'bounced-transient': {
    type: 'bounced',
    permanent: false,
    data: {
      subType: 'MailboxFull',
      smtpCode: 452,
      enhancedCode: '4.2.2',
      message: '452 4.2.2 The mailbox is full',
      remoteMta: SIMULATED_MTA,
    },
  },
  complained: { type: 'complained', data: { feedbackType: 'abuse', userAgent: BROWSER } },
  unsubscribed: {
    type: 'unsubscribed',
    data: { source: 'oneClick', campaignId: null, audienceId: null },
  },
} as const satisfies Readonly<Record<string, SimulatedReportOf>>;

/** The name of such a report. */
export type SimulatedReport = keyof typeof SIMULATED_REPORTS;

/**
 * The outcome and the reports of a test email, as its sender scripted them. They apply to every recipient.
 */
export interface OutcomeScript {
  /** The deferred attempts before the one that counts. */
  readonly deferrals: number;
  /** `deferred` puts the email off until its retries run out. */
  readonly outcome: Exclude<RecipientOutcome['outcome'], 'unknown'>;
  /**
   * The reports after the acceptance of the message. Each delay counts from the report before it, the first
   * from the acceptance.
   */
  readonly reports: readonly { readonly afterMs: number; readonly what: readonly SimulatedReport[] }[];
}

/** The progress of a script: the number of reports that are done, and the time of the last one. */
export interface ScriptProgress {
  readonly done: number;
  readonly at: number;
}
