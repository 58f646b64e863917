import type { RecordStatus, Verdict } from '../../../../machines/domain/context.ts';
import type { CheckedRecord } from '../../../mail/dns/txt-rules.ts';
import type { IdentityState } from '../../../mail/transport/ses/identity.ts';
import { type AskedRecord, knownStatusOf, type Slot } from './records.ts';

/** A record and the answer of DNS for it. */
export interface RecordCheck {
  readonly asked: AskedRecord;
  readonly checked: CheckedRecord;
}

/** A zone may hold anything, so the found values that are stored and shown are bounded. */
const MOST_FOUND = 10;
const LONGEST_FOUND = 500;

/** The verdict of a check, which only the records decide that sending requires. */
export function verdictOn(checks: readonly RecordCheck[]): Verdict {
  // A missing MX stops no mail from leaving: a route that is added to a domain must not hold its mail.
  const statuses = checks
    .filter(({ asked }) => asked.required && asked.slot !== 'receiving')
    .map(({ checked }) => checked.status);
  if (statuses.includes('failed')) return 'wrong';
  if (statuses.includes('pending')) return 'missing';
  return statuses.includes('unknown') ? 'unanswered' : 'verified';
}

/** True when DNS has the record of that slot. */
export const isThere = (checks: readonly RecordCheck[], slot: Slot): boolean =>
  checks.some(({ asked, checked }) => asked.slot === slot && checked.status === 'verified');

/** Longest wait of the pending keys for the Ed25519 record when only that one is missing. */
const ED25519_WAIT_MS = 72 * 3_600_000;

/**
 * True when every receiver can verify the signatures of the pending keys. No signature is lost by the switch:
 * when the active Ed25519 record is in DNS, the pending one is awaited too, for three days.
 */
export function maySwitch(checks: readonly RecordCheck[], waitedMs: number): boolean {
  if (!isThere(checks, 'nextDkim')) return false;
  const lacksEd25519 = isThere(checks, 'dkimEd25519') && !isThere(checks, 'nextDkimEd25519');
  return !lacksEd25519 || waitedMs >= ED25519_WAIT_MS;
}

/**
 * The status of each record after a check. A record for which DNS gave no answer keeps its previous status.
 */
export const statusesAfter = (
  checks: readonly RecordCheck[],
  before: readonly RecordStatus[],
): readonly RecordStatus[] =>
  checks.map(({ asked, checked }) => {
    const { slot, fingerprint } = asked;
    const found = checked.found.slice(0, MOST_FOUND).map((text) => text.slice(0, LONGEST_FOUND));
    if (checked.status !== 'unknown')
      return { slot, fingerprint, status: checked.status, found, error: checked.error };
    const known = knownStatusOf(asked, before);
    return {
      slot,
      fingerprint,
      status: known?.status ?? 'pending',
      found: known?.found ?? [],
      error: checked.error,
    };
  });

/**
 * Shows the state of the domain at SES on its DKIM record: without SES no mail leaves, even when DNS is
 * right.
 */
export function withIdentity(
  checks: readonly RecordCheck[],
  state: IdentityState | 'unreachable',
): readonly RecordCheck[] {
  const shown = SHOWN[state];
  if (shown === null) return checks;
  return checks.map(({ asked, checked }) =>
    asked.slot === 'dkim' && checked.status === 'verified'
      ? { asked, checked: { ...shown, found: checked.found } }
      : { asked, checked },
  );
}

const SHOWN = {
  verified: null,
  pending: { status: 'pending', error: 'The record is correct; Amazon SES has not confirmed it yet.' },
  otherKey: {
    status: 'pending',
    error: 'The record is correct; Amazon SES does not use the key yet.',
  },
  absent: {
    status: 'pending',
    error: 'The record is correct; the domain is not registered at Amazon SES yet.',
  },
  failed: {
    status: 'failed',
    error: 'The record is correct, but Amazon SES did not confirm it within its time limit.',
  },
  temporaryFailure: { status: 'unknown', error: 'Amazon SES cannot look up the record at the moment.' },
  unreachable: { status: 'unknown', error: 'Amazon SES does not answer at the moment.' },
} as const satisfies Record<IdentityState | 'unreachable', Omit<CheckedRecord, 'found'> | null>;
