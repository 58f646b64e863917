import type { EmailEventType, RecipientOutcome } from './recipient.ts';

/** What a receiver reports, whomever it is about. */
export interface SimulatedReportOf {
  readonly type: Exclude<EmailEventType, 'sent'>;
  readonly permanent?: boolean;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Where simulated mail is received. */
export const SIMULATED_MTA = 'mx.simulator.svc.test';
/** What the receiver of simulated mail says. */
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
      ...{ subType: 'NoEmail', smtpCode: 550, enhancedCode: '5.1.1' },
      ...{ message: '550 5.1.1 No such mailbox', remoteMta: SIMULATED_MTA },
    },
  },
  'bounced-transient': {
    type: 'bounced',
    permanent: false,
    data: {
      ...{ subType: 'MailboxFull', smtpCode: 452, enhancedCode: '4.2.2' },
      ...{ message: '452 4.2.2 The mailbox is full', remoteMta: SIMULATED_MTA },
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

/** What becomes of a test email, as its sender has written it down. It holds for every recipient. */
export interface OutcomeScript {
  /** Attempts that are put off before the one that counts. */
  readonly deferrals: number;
  /** What that one comes to; `deferred`: it is put off until retries run out. */
  readonly outcome: Exclude<RecipientOutcome['outcome'], 'unknown'>;
  /** What is reported once the message was taken: each after a while from those before, the first from the acceptance. */
  readonly reports: readonly { readonly afterMs: number; readonly what: readonly SimulatedReport[] }[];
}

/** How far a script has come: the reports of the list that are done, and when the last of them was. */
export interface ScriptProgress {
  readonly done: number;
  readonly at: number;
}
