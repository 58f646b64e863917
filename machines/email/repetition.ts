import type { ReportReceived } from './context.ts';
import type { EmailEventType, FailureReason, RecipientProgress } from './recipient.ts';

/**
 * Visits closer together than this count once: a program that shows a message twice, a second click out of
 * impatience.
 */
const SAME_VISIT_MS = 10_000;

/**
 * The most visits of a kind that are recorded for a recipient, since any holder of the message can repeat
 * them without end.
 */
const MOST_VISITS = 100;

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

/**
 * True when the report repeats a recorded one: mail and HTTP both repeat what was not acknowledged in time.
 */
export const isRepeated = (known: RecipientProgress, { at, report }: ReportReceived): boolean =>
  (report.type === 'delivered' && known.status === 'delivered') ||
  (report.type === 'bounced' && reasonOfReport(report) === null && known.lastEvent === 'bounced') ||
  known.once?.includes(report.type) === true ||
  isVisitTooMany(known, at, report);

const isVisitTooMany = (
  { visits }: RecipientProgress,
  at: number,
  { type, link }: ReportReceived['report'],
): boolean => {
  const known = visits?.[type];
  if (link === undefined || !known) return false;
  const isSame = known.link === link && Math.abs(at - known.at) < SAME_VISIT_MS;
  return isSame || known.count >= MOST_VISITS;
};

/** Events that are recorded once for each recipient: a second one repeats a report. */
const ONCE: ReadonlySet<EmailEventType> = new Set(['complained', 'unsubscribed']);

/** The changes by which repetitions of a report are recognised. */
export const remembered = (
  { once, visits }: RecipientProgress,
  { at, report: { type, link } }: ReportReceived,
): Pick<RecipientProgress, 'once' | 'visits'> => ({
  ...(ONCE.has(type) ? { once: [...(once ?? []), type] } : {}),
  ...(link === undefined
    ? {}
    : { visits: { ...visits, [type]: { count: (visits?.[type]?.count ?? 0) + 1, at, link } } }),
});
