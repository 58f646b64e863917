import type { EmailContext, EmailEvent } from '../../../../machines/email/context.ts';
import type { RecipientOutcome } from '../../../../machines/email/recipient.ts';
import {
  type OutcomeScript,
  SIMULATED_ACCEPTANCE,
  SIMULATED_REPORTS,
} from '../../../../machines/email/script.ts';

type Report = Extract<EmailEvent, { type: 'report.received' }>['report'];

/** The outcome and the later reports of a recipient, in the order of real mail. */
interface Script {
  outcome(attempt: number): RecipientOutcome['outcome'];
  readonly reports: readonly Omit<Report, 'recipient'>[];
}

/**
 * Named, so that an attempt is opened once, even if two instances that advance one test clock report its
 * outcome.
 */
const LINK = 0;
const { delivered, complained, unsubscribed } = SIMULATED_REPORTS;
const opened = { ...SIMULATED_REPORTS.opened, link: LINK };
const clicked = { ...SIMULATED_REPORTS.clicked, link: LINK };

/** The script of each outcome that an address can choose. */
export const SCRIPTS = {
  delivered: { outcome: () => 'accepted', reports: [delivered] },
  bounced: { outcome: () => 'refused', reports: [] },
  'bounced-transient': { outcome: () => 'accepted', reports: [SIMULATED_REPORTS['bounced-transient']] },
  complained: { outcome: () => 'accepted', reports: [delivered, complained] },
  opened: { outcome: () => 'accepted', reports: [delivered, opened] },
  clicked: { outcome: () => 'accepted', reports: [delivered, opened, clicked] },
  unsubscribed: { outcome: () => 'accepted', reports: [delivered, unsubscribed] },
  deferred: { outcome: (attempt) => (attempt <= 2 ? 'deferred' : 'accepted'), reports: [delivered] },
  expired: { outcome: () => 'deferred', reports: [] },
  suppressed: { outcome: () => 'suppressed', reports: [] },
} as const satisfies Record<string, Script>;

/** One that the sender has written: what is reported afterwards is the machine's own matter. */
const writtenBy = ({ deferrals, outcome }: OutcomeScript): Script => ({
  outcome: (attempt) => (attempt <= deferrals ? 'deferred' : outcome),
  reports: [],
});

export type SimulatedOutcomeName = keyof typeof SCRIPTS;

const SENT = (messageId: string) => ({ provider: 'simulator', messageId, response: SIMULATED_ACCEPTANCE });
const REFUSED = SIMULATED_REPORTS.bounced.data;

/**
 * Simulates one attempt of a test email: the outcome of each pending recipient, then the reports that would
 * follow.
 */
export function simulate(context: EmailContext, messageId: string, at: number): readonly EmailEvent[] {
  const outcomes: RecipientOutcome[] = [];
  const reports: EmailEvent[] = [];
  context.recipients.forEach(({ status, simulate: name }, recipient) => {
    if (status !== 'pending') return;
    const script: Script = context.script
      ? writtenBy(context.script)
      : SCRIPTS[(name ?? 'delivered') as SimulatedOutcomeName];
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
