import type { EmailContext, EmailEvent } from '../../../../machines/email-context.ts';
import type { RecipientOutcome } from '../../../../machines/email-recipient.ts';

type Report = Extract<EmailEvent, { type: 'report.received' }>['report'];

/** The outcome and the later reports of a recipient, in the order of real mail. */
interface Script {
  outcome(attempt: number): RecipientOutcome['outcome'];
  readonly reports: readonly Omit<Report, 'recipient'>[];
}

const REMOTE = 'mx.simulator.svc.test';
const ACCEPTED = '250 2.0.0 Accepted by the simulator';
const delivered: Omit<Report, 'recipient'> = {
  type: 'delivered',
  data: { remoteMta: REMOTE, response: ACCEPTED },
};
const BROWSER = 'Posthorn simulator';
/** Named, so that an attempt whose outcome is told twice, by two that move one test clock, is opened once. */
const LINK = 0;

/** The script of each outcome that an address can choose. */
export const SCRIPTS = {
  delivered: { outcome: () => 'accepted', reports: [delivered] },
  bounced: { outcome: () => 'refused', reports: [] },
  'bounced-transient': {
    outcome: () => 'accepted',
    reports: [
      {
        type: 'bounced',
        permanent: false,
        data: {
          subType: 'MailboxFull',
          smtpCode: 452,
          enhancedCode: '4.2.2',
          message: '452 4.2.2 The mailbox is full',
          remoteMta: REMOTE,
        },
      },
    ],
  },
  complained: {
    outcome: () => 'accepted',
    reports: [delivered, { type: 'complained', data: { feedbackType: 'abuse', userAgent: BROWSER } }],
  },
  opened: {
    outcome: () => 'accepted',
    reports: [delivered, { type: 'opened', link: LINK, data: { userAgent: BROWSER, via: null } }],
  },
  clicked: {
    outcome: () => 'accepted',
    reports: [
      delivered,
      { type: 'opened', link: LINK, data: { userAgent: BROWSER, via: null } },
      {
        type: 'clicked',
        link: LINK,
        data: { url: 'https://example.com/', userAgent: BROWSER, via: null },
      },
    ],
  },
  unsubscribed: {
    outcome: () => 'accepted',
    reports: [
      delivered,
      { type: 'unsubscribed', data: { source: 'oneClick', campaignId: null, audienceId: null } },
    ],
  },
  deferred: { outcome: (attempt) => (attempt <= 2 ? 'deferred' : 'accepted'), reports: [delivered] },
  expired: { outcome: () => 'deferred', reports: [] },
  suppressed: { outcome: () => 'suppressed', reports: [] },
} as const satisfies Record<string, Script>;

/** The name of a simulated outcome. */
export type Simulated = keyof typeof SCRIPTS;

const SENT = (messageId: string) => ({ provider: 'simulator', messageId, response: ACCEPTED });
const REFUSED = {
  subType: 'NoEmail',
  smtpCode: 550,
  enhancedCode: '5.1.1',
  message: '550 5.1.1 No such mailbox',
  remoteMta: REMOTE,
};

/** Simulates one attempt of a test email: the outcome of each pending recipient, then the reports that would follow. */
export function simulate(context: EmailContext, messageId: string, at: number): readonly EmailEvent[] {
  const outcomes: RecipientOutcome[] = [];
  const reports: EmailEvent[] = [];
  context.recipients.forEach(({ status, simulate: name }, recipient) => {
    if (status !== 'pending') return;
    const script: Script = SCRIPTS[(name ?? 'delivered') as Simulated];
    const outcome = script.outcome(context.attempt);
    outcomes.push({
      recipient,
      outcome,
      data: outcome === 'refused' ? REFUSED : outcome === 'accepted' ? SENT(messageId) : {},
    });
    if (outcome !== 'accepted') return;
    for (const report of script.reports)
      reports.push({ type: 'report.received', at, report: { ...report, recipient } });
  });
  return [{ type: 'attempt.completed', at, attempt: context.attempt, outcomes }, ...reports];
}
