import type { ReportReceived } from './email-context.ts';
import type { EmailEventType, RecipientProgress } from './email-recipient.ts';

/** A mail program that shows a message twice, or a second click out of impatience, is no second visit. */
const SAME_VISIT_MS = 10_000;

/** Whoever has the message can open it, and follow each of its links, without end. */
const MOST_VISITS = 100;

/** Reports travel by mail and by HTTP, and both repeat what was not acknowledged in time; links are followed at will. */
export const isRepeated = (known: RecipientProgress, { at, report }: ReportReceived): boolean =>
  (report.type === 'delivered' && known.status === 'delivered') ||
  (report.type === 'bounced' && report.permanent !== true && known.lastEvent === 'bounced') ||
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

/** A person complains of a message and leaves a list once; who says so again repeats a report. */
const ONCE: ReadonlySet<EmailEventType> = new Set(['complained', 'unsubscribed']);

/** What is to be remembered of a report, so that its repetitions are known. */
export const remembered = (
  { once, visits }: RecipientProgress,
  { at, report: { type, link } }: ReportReceived,
): Pick<RecipientProgress, 'once' | 'visits'> => ({
  ...(ONCE.has(type) ? { once: [...(once ?? []), type] } : {}),
  ...(link === undefined
    ? {}
    : { visits: { ...visits, [type]: { count: (visits?.[type]?.count ?? 0) + 1, at, link } } }),
});
