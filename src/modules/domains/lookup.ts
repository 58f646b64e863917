import type { DomainContext, DomainEvent, RecordStanding, Verdict } from '../../../machines/domain.ts';
import { type CheckedRecord, checkRecords } from '../../transport/dns/check-records.ts';
import type { Resolver } from '../../transport/dns/resolver.ts';
import { type Looked, standingsAfter, verdictOn, withIdentity } from './judge.ts';
import { isReserved } from './name.ts';
import {
  type AskedRecord,
  type DnsSetup,
  exemptStandings,
  type RecordSource,
  recordsOf,
  wayOf,
} from './records.ts';

/** A domain as a check needs it. */
export interface CheckedDomain extends RecordSource {
  readonly id: string;
  /** The private RSA key, sealed. */
  readonly rsaKey: string;
}

/** A provider that wants to be told of each domain, and confirms it by itself. */
export interface Identities {
  /** Makes it known with our key when `isNew` or when the provider has lost it; answers how it stands there. */
  stateOf(
    domain: CheckedDomain,
    isNew: boolean,
  ): Promise<'verified' | 'pending' | 'failed' | 'temporaryFailure' | 'absent' | 'unreachable'>;
}

/** What a look works with. */
export interface Looking {
  readonly setup: DnsSetup;
  /** A new one for every look: what a person has just set must be seen. */
  openResolver(): Resolver;
  /** Asked about domains whose mail leaves through SES; null where that is not enabled. */
  readonly identities: Identities | null;
}

/** Where nothing leaves, names that cannot exist need no proof. */
export const isExempt = (setup: DnsSetup, domain: Pick<RecordSource, 'name' | 'provider'>): boolean =>
  wayOf(domain, setup) === 'capture' && isReserved(domain.name);

/** Looks up every record of a domain, and asks the provider where there is one. */
export async function lookAt(
  domain: CheckedDomain,
  { records: before, lastCheckedAt }: Pick<DomainContext, 'records' | 'lastCheckedAt'>,
  { setup, openResolver, identities }: Looking,
): Promise<{ readonly verdict: Verdict; readonly records: readonly RecordStanding[] }> {
  const asked = recordsOf(domain, setup);
  if (isExempt(setup, domain)) return { verdict: 'verified', records: exemptStandings(asked) };
  const [checked, state] = await Promise.all([
    checkRecords(asked, { resolver: openResolver(), domain: domain.name }),
    identities && wayOf(domain, setup) === 'ses'
      ? identities.stateOf(domain, lastCheckedAt === null)
      : CONFIRMED,
  ]);
  const looked = withIdentity(pairs(asked, checked), state);
  return { verdict: verdictOn(looked), records: standingsAfter(looked, before) };
}

/** Where nobody but DNS is asked, what DNS says stands. */
const CONFIRMED = 'verified' as const;

const pairs = (asked: readonly AskedRecord[], checked: readonly CheckedRecord[]): readonly Looked[] =>
  asked.flatMap((record, index) => {
    const found = checked[index];
    return found ? [{ asked: record, checked: found }] : [];
  });

/** The outcome of a check as the machine takes it. */
export type CheckOutcome = Extract<DomainEvent, { type: 'check.completed' }>;
