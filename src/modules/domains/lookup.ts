import type {
  DomainContext,
  DomainEvent,
  RecordStanding,
  Verdict,
} from '../../../machines/domain-context.ts';
import { type CheckedRecord, checkRecords } from '../../transport/dns/check-records.ts';
import type { Resolver } from '../../transport/dns/resolver.ts';
import type { IdentityState } from '../../transport/ses/identity.ts';
import { isThere, type Looked, mayTakeOver, standingsAfter, verdictOn, withIdentity } from './judge.ts';
import { type KeySet, keysAt } from './keys.ts';
import { isReserved } from './name.ts';
import {
  type AskedRecord,
  type DnsSetup,
  exemptStandings,
  type RecordSource,
  recordsOf,
  wayOf,
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
export interface Looking {
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
  wayOf(domain, setup) === 'capture' && isReserved(domain.name);

/** Looks up every record of a domain, and asks the provider where there is one. */
export async function lookAt(
  domain: CheckedDomain,
  { records: before, lastCheckedAt }: Pick<DomainContext, 'records' | 'lastCheckedAt'>,
  { setup, openResolver, identities }: Looking,
  now: number,
): Promise<Found> {
  const [active, next] = [keysAt(domain.keySets, 'active'), keysAt(domain.keySets, 'pending')];
  if (isExempt(setup, domain)) {
    const records = exemptStandings(recordsOf(next ? switched(domain) : domain, setup));
    return { verdict: 'verified', records, ...(next && { switchTo: next.selector }) };
  }
  const asked = recordsOf(domain, setup);
  const provider = wayOf(domain, setup) === 'ses' ? identities : null;
  const looked = pairs(asked, await checkRecords(asked, { resolver: openResolver(), domain: domain.name }));
  const isReady = next !== null && mayTakeOver(looked, now - next.since);
  // The provider signs with the keys that it was told last: it hears of new ones once everybody can check them.
  const [keys, slot] = isReady ? ([next, 'nextDkim'] as const) : ([active, 'dkim'] as const);
  const known = { isNew: lastCheckedAt === null, isProven: isThere(looked, slot) };
  const state = provider && keys ? await provider.stateOf(domain, keys, known) : CONFIRMED;
  if (!isReady || state === 'unreachable') return judged(withIdentity(looked, state), before);
  const after = again(recordsOf(switched(domain), setup), looked);
  return { ...judged(withIdentity(after, state), before), switchTo: next.selector };
}

const judged = (
  looked: readonly Looked[],
  before: readonly RecordStanding[],
): { readonly verdict: Verdict; readonly records: readonly RecordStanding[] } => ({
  verdict: verdictOn(looked),
  records: standingsAfter(looked, before),
});

/** Where nobody but DNS is asked, what DNS says stands. */
const CONFIRMED = 'verified' as const;

/** The domain as it is once its pending keys sign. */
const switched = <Domain extends RecordSource>(domain: Domain): RecordSource => ({
  ...domain,
  keySets: domain.keySets.flatMap((set) => (set.stage === 'pending' ? [{ ...set, stage: 'active' }] : [])),
});

const pairs = (asked: readonly AskedRecord[], checked: readonly CheckedRecord[]): readonly Looked[] =>
  asked.flatMap((record, index) => {
    const found = checked[index];
    return found ? [{ asked: record, checked: found }] : [];
  });

/** What DNS said of the same records, under what they are asked for now. */
const again = (asked: readonly AskedRecord[], looked: readonly Looked[]): readonly Looked[] =>
  asked.flatMap((record) => {
    const same = looked.find((one) => one.asked.fingerprint === record.fingerprint);
    return same ? [{ asked: record, checked: same.checked }] : [];
  });
