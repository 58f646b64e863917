import type { CheckCompleted, DomainContext, DomainEvent, DomainInput, Verdict } from './context.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The time that missing records are awaited. After it, one check a day remains. */
export const PATIENCE_MS = 72 * HOUR_MS;
/** The time that a verified domain keeps sending while DNS gives no answer. */
export const OUTAGE_GRACE_MS = DAY_MS;
/**
 * The time that it keeps sending while DNS gives a wrong answer: a zone that is being edited or moved
 * recovers without help.
 */
export const REFUTED_GRACE_MS = HOUR_MS;
/** The time after which a check without an outcome is lost, and another one may begin. */
export const CHECK_LEASE_MS = 30_000;

/** The wait doubles: checks after 1, 2, 4, … minutes, then hourly; daily once patience has ended. */
const paceAfter = (lasted: number): number =>
  lasted >= PATIENCE_MS ? DAY_MS : Math.min(HOUR_MS, Math.max(MINUTE_MS, lasted));

/** The time of an event. Internal events of XState carry none in its types; the engine adds one. */
export const momentOf = (context: DomainContext, event: { readonly at?: number }): number =>
  event.at ?? context.at;

/** The wait before a domain that is not proven is checked again. */
export const waitForRecheck = ({ at, since }: DomainContext): number => paceAfter(at - since);

/** The wait of a proven domain: a day, or less while records of new keys are awaited. */
export const waitWhileProven = ({ at, rotatingSince }: DomainContext): number =>
  rotatingSince === null ? DAY_MS : paceAfter(at - rotatingSince);

/** True when another check may be ordered. */
export const noCheckRuns = ({ checkingSince }: DomainContext, at: number): boolean =>
  checkingSince === null || at - checkingSince >= CHECK_LEASE_MS;

/** The verdict of the check that is awaited; null for any other event. */
export const verdictOf = (context: DomainContext, event: DomainEvent): Verdict | null =>
  event.type === 'check.completed' && event.attempt === context.attempt && context.checkingSince !== null
    ? event.verdict
    : null;

/** True when patience with records that are not there has ended. */
const isOverdue = ({ since }: DomainContext, at: number): boolean => at - since >= PATIENCE_MS;

/** True when the check found a wrong record, or records have been missing for too long. */
export const isWrongOrOverdue = (context: DomainContext, event: DomainEvent): boolean => {
  const verdict = verdictOf(context, event);
  return verdict === 'wrong' || (verdict === 'missing' && isOverdue(context, event.at));
};

/** True when the check found nothing wrong, and the missing records may still come. */
export const isOnlyMissing = (context: DomainContext, event: DomainEvent): boolean =>
  verdictOf(context, event) === 'missing' && !isOverdue(context, event.at);

const isRefuting = (verdict: Verdict): boolean => verdict === 'missing' || verdict === 'wrong';

/** True when a verified domain has now gone without a proof for too long to keep sending. */
export function graceIsOver(context: DomainContext, event: DomainEvent): boolean {
  const verdict = verdictOf(context, event);
  if (verdict === null) return false;
  const refutedFor = event.at - (context.refutedSince ?? event.at);
  return (
    event.at - context.since >= OUTAGE_GRACE_MS || (isRefuting(verdict) && refutedFor >= REFUTED_GRACE_MS)
  );
}

/** The time that DNS first contradicted the proof, this check included; null while it has not. */
export const refutedSinceAfter = (
  { refutedSince }: DomainContext,
  { verdict, at }: CheckCompleted,
): number | null => refutedSince ?? (isRefuting(verdict) ? at : null);

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

/** The changes that every outcome of a check makes, whichever state follows. */
export function withOutcome(
  context: DomainContext,
  { at, records, switchTo }: CheckCompleted,
): Partial<DomainContext> {
  const rotatingSince = switchTo === undefined ? context.rotatingSince : null;
  return { at, records, checkingSince: null, lastCheckedAt: at, rotatingSince };
}

/** The changes of a new proof, which holds from now on. */
export const withProof = (at: number): Partial<DomainContext> => ({
  since: at,
  refutedSince: null,
  verifiedAt: at,
});

/** The changes of a lost proof. */
export const withoutProof = (at: number): Partial<DomainContext> => ({
  since: at,
  refutedSince: null,
  verifiedAt: null,
});

/** The new default tracking. */
export function withSettings(context: DomainContext, event: DomainEvent): Partial<DomainContext> {
  if (event.type !== 'settings.changed') return {};
  const { at, openTracking = context.openTracking, clickTracking = context.clickTracking } = event;
  return { at, openTracking, clickTracking, changedAt: Math.max(at, (context.changedAt ?? 0) + 1) };
}

/** True when no client has changed the domain since the one whose change this is has seen it. */
export const isUnchanged = (context: DomainContext, event: DomainEvent): boolean =>
  event.type === 'settings.changed' &&
  (event.seenAt === undefined || event.seenAt === (context.changedAt ?? null));
