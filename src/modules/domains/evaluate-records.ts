import type { RecordStanding, Verdict } from '../../../machines/domain-context.ts';
import type { CheckedRecord } from '../../transport/dns/check-records.ts';
import type { IdentityState } from '../../transport/ses/identity.ts';
import { type AskedRecord, type Slot, standingOf } from './records.ts';

/** A record and what DNS said of it. */
export interface RecordCheck {
  readonly asked: AskedRecord;
  readonly checked: CheckedRecord;
}

/** A zone may hold anything: what is kept and shown of it is bounded. */
const MOST_FOUND = 10;
const LONGEST_FOUND = 500;

/** What a look at all records comes to, over those that are required. */
export function verdictOn(checks: readonly RecordCheck[]): Verdict {
  const statuses = checks.filter(({ asked }) => asked.required).map(({ checked }) => checked.status);
  if (statuses.includes('failed')) return 'wrong';
  if (statuses.includes('pending')) return 'missing';
  return statuses.includes('unknown') ? 'unanswered' : 'verified';
}

/** Whether DNS shows that record as it is asked for. */
export const isThere = (checks: readonly RecordCheck[], slot: Slot): boolean =>
  checks.some(({ asked, checked }) => asked.slot === slot && checked.status === 'verified');

/** So long the pending keys wait for the record of the Ed25519 key, when only that is still missing. */
const ED25519_PATIENCE_MS = 72 * 3_600_000;

/**
 * Whether everybody can check what the pending keys would sign. No signature is lost by it: where the Ed25519 record of
 * those that sign is there, that of the pending ones is awaited too, for three days.
 */
export function mayTakeOver(checks: readonly RecordCheck[], waitedMs: number): boolean {
  if (!isThere(checks, 'nextDkim')) return false;
  const lacksEd25519 = isThere(checks, 'dkimEd25519') && !isThere(checks, 'nextDkimEd25519');
  return !lacksEd25519 || waitedMs >= ED25519_PATIENCE_MS;
}

/** How each record stands now. Where DNS gave no answer, what was known before still holds. */
export const standingsAfter = (
  checks: readonly RecordCheck[],
  before: readonly RecordStanding[],
): readonly RecordStanding[] =>
  checks.map(({ asked, checked }) => {
    const { slot, fingerprint } = asked;
    const found = checked.found.slice(0, MOST_FOUND).map((text) => text.slice(0, LONGEST_FOUND));
    if (checked.status !== 'unknown')
      return { slot, fingerprint, status: checked.status, found, error: checked.error };
    const known = standingOf(asked, before);
    return {
      slot,
      fingerprint,
      status: known?.status ?? 'pending',
      found: known?.found ?? [],
      error: checked.error,
    };
  });

/** What SES says of the domain, laid upon its DKIM record: without SES nothing leaves, however right DNS is. */
export function withIdentity(
  checks: readonly RecordCheck[],
  state: IdentityState | 'unreachable',
): readonly RecordCheck[] {
  const said = SAID[state];
  if (said === null) return checks;
  return checks.map(({ asked, checked }) =>
    asked.slot === 'dkim' && checked.status === 'verified'
      ? { asked, checked: { ...said, found: checked.found } }
      : { asked, checked },
  );
}

const SAID = {
  verified: null,
  pending: { status: 'pending', error: 'The record is right; Amazon SES has not confirmed it yet.' },
  otherKey: {
    status: 'pending',
    error: 'The record is right; Amazon SES has not taken over the key yet.',
  },
  absent: { status: 'pending', error: 'The record is right; Amazon SES does not know the domain yet.' },
  failed: {
    status: 'failed',
    error: 'The record is right, but Amazon SES could not confirm it within its time.',
  },
  temporaryFailure: { status: 'unknown', error: 'Amazon SES could not look the record up for now.' },
  unreachable: { status: 'unknown', error: 'Amazon SES gave no answer for now.' },
} as const satisfies Record<IdentityState | 'unreachable', Omit<CheckedRecord, 'found'> | null>;
