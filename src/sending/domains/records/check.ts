import type {
  DomainContext,
  DomainEvent,
  RecordStatus,
  Verdict,
} from '../../../../machines/domain/context.ts';
import { checkRecords } from '../../../mail/dns/check-records.ts';
import type { Resolver } from '../../../mail/dns/resolver.ts';
import type { CheckedRecord } from '../../../mail/dns/txt-rules.ts';
import type { IdentityState } from '../../../mail/transport/ses/identity.ts';
import { leaves } from '../../../mail/transport/traits.ts';
import {
  isThere,
  maySwitch,
  type RecordCheck,
  statusesAfter,
  verdictOn,
  withIdentity,
} from './evaluate-records.ts';
import { type KeySet, keysAt } from './keys.ts';
import { isReserved } from './name.ts';
import {
  type AskedRecord,
  type DnsSetup,
  exemptStatuses,
  type RecordSource,
  recordsOf,
  transportOf,
  waysOf,
} from './records.ts';

/** A set of keys with the key that a provider signs with. */
export interface CheckedKeys extends KeySet {
  /** The private RSA key, sealed. */
  readonly rsaKey: string;
}

/** The parts of a domain that a check reads. */
export interface CheckedDomain extends RecordSource {
  readonly id: string;
  readonly keySets: readonly CheckedKeys[];
}

/** A provider with a register of domains that it verifies itself. */
export interface Identities {
  /**
   * Registers the domain with these keys when it `isNew` or the provider has lost it. When the record of
   * these keys is in DNS (`isProven`), it replaces other keys that the provider has. Returns the state of the
   * domain there.
   */
  stateOf(
    domain: Pick<CheckedDomain, 'id' | 'name'>,
    keys: CheckedKeys,
    known: { readonly isNew: boolean; readonly isProven: boolean },
  ): Promise<IdentityState | 'unreachable'>;
}

/** The parts that a check uses. */
export interface CheckParts {
  readonly setup: DnsSetup;
  /** Opens a resolver without a cache for each check, because a record that was just set must be found. */
  openResolver(): Resolver;
  /** The register of Amazon SES; null when that transport is not enabled. */
  readonly identities: Identities | null;
}

/** The event that reports a check to the machine. */
export type CheckOutcome = Extract<DomainEvent, { type: 'check.completed' }>;

type CheckResult = Pick<CheckOutcome, 'verdict' | 'records' | 'switchTo'>;

/**
 * True when a domain needs no proof: its name cannot exist in the public DNS, and its mail does not leave.
 */
export const isExempt = (setup: DnsSetup, domain: Pick<RecordSource, 'name' | 'provider'>): boolean =>
  !leaves(transportOf(domain, setup)) && isReserved(domain.name);

/** Looks up every record of a domain, and asks the provider when there is one. */
export async function checkRecordsOf(
  domain: CheckedDomain,
  { records: before, lastCheckedAt }: Pick<DomainContext, 'records' | 'lastCheckedAt'>,
  { setup, openResolver, identities }: CheckParts,
  now: number,
): Promise<CheckResult> {
  const [active, next] = [keysAt(domain.keySets, 'active'), keysAt(domain.keySets, 'pending')];
  if (isExempt(setup, domain)) {
    const records = exemptStatuses(recordsOf(next ? switched(domain) : domain, setup));
    return { verdict: 'verified', records, ...(next && { switchTo: next.selector }) };
  }
  const asked = recordsOf(domain, setup);
  const provider = waysOf(domain, setup).includes('ses') ? identities : null;
  const checks = pairs(asked, await checkRecords(asked, { resolver: openResolver(), domain: domain.name }));
  const isReady = next !== null && maySwitch(checks, now - next.since);
  // The provider signs with the keys that it received last, so it receives new ones once every receiver can
  // verify them.
  const [keys, slot] = isReady ? ([next, 'nextDkim'] as const) : ([active, 'dkim'] as const);
  const known = { isNew: lastCheckedAt === null, isProven: isThere(checks, slot) };
  const told = provider && keys ? await provider.stateOf(domain, keys, known) : CONFIRMED;
  // SES as a fallback is prepared but holds nothing back: mail by the first transport does not depend on it.
  const state = transportOf(domain, setup) === 'ses' ? told : CONFIRMED;
  if (!isReady || state === 'unreachable') return evaluated(withIdentity(checks, state), before);
  const after = rematched(recordsOf(switched(domain), setup), checks);
  return { ...evaluated(withIdentity(after, state), before), switchTo: next.selector };
}

const evaluated = (
  checks: readonly RecordCheck[],
  before: readonly RecordStatus[],
): { readonly verdict: Verdict; readonly records: readonly RecordStatus[] } => ({
  verdict: verdictOn(checks),
  records: statusesAfter(checks, before),
});

/** The state when no provider is asked: DNS alone decides. */
const CONFIRMED = 'verified' as const;

/** The domain after its pending keys have become the active ones. */
const switched = <Domain extends RecordSource>(domain: Domain): RecordSource => ({
  ...domain,
  keySets: domain.keySets.flatMap((set) => (set.stage === 'pending' ? [{ ...set, stage: 'active' }] : [])),
});

const pairs = (asked: readonly AskedRecord[], checked: readonly CheckedRecord[]): readonly RecordCheck[] =>
  asked.flatMap((record, index) => {
    const found = checked[index];
    return found ? [{ asked: record, checked: found }] : [];
  });

/** Attaches the results of DNS to the same records under their new slots. */
const rematched = (asked: readonly AskedRecord[], checks: readonly RecordCheck[]): readonly RecordCheck[] =>
  asked.flatMap((record) => {
    const same = checks.find((one) => one.asked.fingerprint === record.fingerprint);
    return same ? [{ asked: record, checked: same.checked }] : [];
  });
