import type {
  DomainContext,
  DomainEvent,
  RecordStanding,
  Verdict,
} from '../../../machines/domain-context.ts';
import { type CheckedRecord, checkRecords } from '../../transport/dns/check-records.ts';
import type { Resolver } from '../../transport/dns/resolver.ts';
import type { IdentityState } from '../../transport/ses/identity.ts';
import {
  isThere,
  mayTakeOver,
  type RecordCheck,
  standingsAfter,
  verdictOn,
  withIdentity,
} from './evaluate-records.ts';
import { type KeySet, keysAt } from './keys.ts';
import { isReserved } from './name.ts';
import {
  type AskedRecord,
  type DnsSetup,
  exemptStandings,
  type RecordSource,
  recordsOf,
  transportOf,
} from './records.ts';

/** A set of keys as a check needs it. */
export interface CheckedKeys extends KeySet {
  /** The private RSA key, sealed. */
  readonly rsaKey: string;
}

/** A domain as a check needs it. */
export interface CheckedDomain extends RecordSource {
  readonly id: string;
  readonly keySets: readonly CheckedKeys[];
}

/** A provider that wants to be told of each domain, and confirms it by itself. */
export interface Identities {
  /**
   * Makes it known with these keys when `isNew`, or when the provider has lost it, and replaces others that the provider
   * has when `isProven`: the record of these is in DNS. Answers how it stands there.
   */
  stateOf(
    domain: Pick<CheckedDomain, 'id' | 'name'>,
    keys: CheckedKeys,
    known: { readonly isNew: boolean; readonly isProven: boolean },
  ): Promise<IdentityState | 'unreachable'>;
}

/** What a look works with. */
export interface CheckParts {
  readonly setup: DnsSetup;
  /** A new one for every look: what a person has just set must be seen. */
  openResolver(): Resolver;
  /** Asked about domains whose mail leaves through SES; null where that is not enabled. */
  readonly identities: Identities | null;
}

/** The outcome of a check as the machine takes it. */
export type CheckOutcome = Extract<DomainEvent, { type: 'check.completed' }>;

type Found = Pick<CheckOutcome, 'verdict' | 'records' | 'switchTo'>;

/** Where nothing leaves, names that cannot exist need no proof. */
export const isExempt = (setup: DnsSetup, domain: Pick<RecordSource, 'name' | 'provider'>): boolean =>
  transportOf(domain, setup) === 'capture' && isReserved(domain.name);

/** Looks up every record of a domain, and asks the provider where there is one. */
export async function checkRecordsOf(
  domain: CheckedDomain,
  { records: before, lastCheckedAt }: Pick<DomainContext, 'records' | 'lastCheckedAt'>,
  { setup, openResolver, identities }: CheckParts,
  now: number,
): Promise<Found> {
  const [active, next] = [keysAt(domain.keySets, 'active'), keysAt(domain.keySets, 'pending')];
  if (isExempt(setup, domain)) {
    const records = exemptStandings(recordsOf(next ? switched(domain) : domain, setup));
    return { verdict: 'verified', records, ...(next && { switchTo: next.selector }) };
  }
  const asked = recordsOf(domain, setup);
  const provider = transportOf(domain, setup) === 'ses' ? identities : null;
  const checks = pairs(asked, await checkRecords(asked, { resolver: openResolver(), domain: domain.name }));
  const isReady = next !== null && mayTakeOver(checks, now - next.since);
  // The provider signs with the keys that it was told last: it hears of new ones once everybody can check them.
  const [keys, slot] = isReady ? ([next, 'nextDkim'] as const) : ([active, 'dkim'] as const);
  const known = { isNew: lastCheckedAt === null, isProven: isThere(checks, slot) };
  const state = provider && keys ? await provider.stateOf(domain, keys, known) : CONFIRMED;
  if (!isReady || state === 'unreachable') return evaluated(withIdentity(checks, state), before);
  const after = again(recordsOf(switched(domain), setup), checks);
  return { ...evaluated(withIdentity(after, state), before), switchTo: next.selector };
}

const evaluated = (
  checks: readonly RecordCheck[],
  before: readonly RecordStanding[],
): { readonly verdict: Verdict; readonly records: readonly RecordStanding[] } => ({
  verdict: verdictOn(checks),
  records: standingsAfter(checks, before),
});

/** Where nobody but DNS is asked, what DNS says stands. */
const CONFIRMED = 'verified' as const;

/** The domain as it is once its pending keys sign. */
const switched = <Domain extends RecordSource>(domain: Domain): RecordSource => ({
  ...domain,
  keySets: domain.keySets.flatMap((set) => (set.stage === 'pending' ? [{ ...set, stage: 'active' }] : [])),
});

const pairs = (asked: readonly AskedRecord[], checked: readonly CheckedRecord[]): readonly RecordCheck[] =>
  asked.flatMap((record, index) => {
    const found = checked[index];
    return found ? [{ asked: record, checked: found }] : [];
  });

/** What DNS said of the same records, under what they are asked for now. */
const again = (asked: readonly AskedRecord[], checks: readonly RecordCheck[]): readonly RecordCheck[] =>
  asked.flatMap((record) => {
    const same = checks.find((one) => one.asked.fingerprint === record.fingerprint);
    return same ? [{ asked: record, checked: same.checked }] : [];
  });
