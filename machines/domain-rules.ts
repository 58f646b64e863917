import type { CheckCompleted, DomainContext, DomainEvent, DomainInput, Verdict } from './domain-context.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Records that nobody has set by then are not awaited any more; a look a day remains. */
export const PATIENCE_MS = 72 * HOUR_MS;
/** So long a verified domain keeps sending while DNS gives no answer. */
export const OUTAGE_GRACE_MS = DAY_MS;
/** So long it keeps sending while DNS gives a wrong answer: a zone that is just being edited or moved rights itself. */
export const REFUTED_GRACE_MS = HOUR_MS;
/** A check without an outcome by then is lost, and another one may be asked for. */
export const CHECK_LEASE_MS = 30_000;

/** As long again as it has lasted so far: after 1, 2, 4, … minutes, then hourly; daily once patience has ended. */
const paceAfter = (lasted: number): number =>
  lasted >= PATIENCE_MS ? DAY_MS : Math.min(HOUR_MS, Math.max(MINUTE_MS, lasted));

/** Internal events of XState carry no time in its types; the engine gives them one. */
export const momentOf = (context: DomainContext, event: { readonly at?: number }): number =>
  event.at ?? context.at;

/** The wait before a domain that is not proven is looked at again. */
export const waitForRecheck = ({ at, since }: DomainContext): number => paceAfter(at - since);

/** The same of a proven domain: a day, or less while records of new keys are awaited. */
export const waitWhileProven = ({ at, rotatingSince }: DomainContext): number =>
  rotatingSince === null ? DAY_MS : paceAfter(at - rotatingSince);

/** Whether another check may be ordered. */
export const noCheckRuns = ({ checkingSince }: DomainContext, at: number): boolean =>
  checkingSince === null || at - checkingSince >= CHECK_LEASE_MS;

/** The verdict of the check that is awaited; null for any other event. */
export const verdictOf = (context: DomainContext, event: DomainEvent): Verdict | null =>
  event.type === 'check.completed' && event.attempt === context.attempt && context.checkingSince !== null
    ? event.verdict
    : null;

/** Whether patience with records that are not there has ended. */
const isOverdue = ({ since }: DomainContext, at: number): boolean => at - since >= PATIENCE_MS;

/** Whether the check found something that waiting does not mend, or that has been waited for long enough. */
export const isWrongOrOverdue = (context: DomainContext, event: DomainEvent): boolean => {
  const verdict = verdictOf(context, event);
  return verdict === 'wrong' || (verdict === 'missing' && isOverdue(context, event.at));
};

/** Whether the check found nothing wrong, and what it did not find may still come. */
export const isOnlyMissing = (context: DomainContext, event: DomainEvent): boolean =>
  verdictOf(context, event) === 'missing' && !isOverdue(context, event.at);

const isRefuting = (verdict: Verdict): boolean => verdict === 'missing' || verdict === 'wrong';

/** Whether a domain that had been proven has now gone without a proof for too long to send on. */
export function graceIsOver(context: DomainContext, event: DomainEvent): boolean {
  const verdict = verdictOf(context, event);
  if (verdict === null) return false;
  const refutedFor = event.at - (context.refutedSince ?? event.at);
  return (
    event.at - context.since >= OUTAGE_GRACE_MS || (isRefuting(verdict) && refutedFor >= REFUTED_GRACE_MS)
  );
}

/** When DNS first contradicted the proof, after this check too; null while it has not. */
export const refutedSinceAfter = (
  { refutedSince }: DomainContext,
  { verdict, at }: CheckCompleted,
): number | null => refutedSince ?? (isRefuting(verdict) ? at : null);

/** What is remembered of a domain that has just been added. */
export const newDomain = (input: DomainInput): DomainContext => ({
  ...input,
  attempt: 0,
  checkingSince: null,
  since: input.at,
  refutedSince: null,
  rotatingSince: null,
  verifiedAt: input.exempt ? input.at : null,
  lastCheckedAt: null,
});

/** What every outcome leaves behind, whatever it means for the state. */
export function withOutcome(
  context: DomainContext,
  { at, records, switchTo }: CheckCompleted,
): Partial<DomainContext> {
  const rotatingSince = switchTo === undefined ? context.rotatingSince : null;
  return { at, records, checkingSince: null, lastCheckedAt: at, rotatingSince };
}

/** Proven anew: from now on, whatever was before. */
export const withProof = (at: number): Partial<DomainContext> => ({
  since: at,
  refutedSince: null,
  verifiedAt: at,
});

/** No longer proven: what had been does not count any more. */
export const withoutProof = (at: number): Partial<DomainContext> => ({
  since: at,
  refutedSince: null,
  verifiedAt: null,
});

/** What is tracked by default from now on; nothing else changes. */
export function withSettings(context: DomainContext, event: DomainEvent): Partial<DomainContext> {
  if (event.type !== 'settings.changed') return {};
  const { at, openTracking = context.openTracking, clickTracking = context.clickTracking } = event;
  return { at, openTracking, clickTracking };
}
