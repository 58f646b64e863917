import type { DomainContext } from '../../../machines/domain/context.ts';
import { allowedOn, dayOf, endOf, type WarmUp } from '../../mail/transport/warm-up.ts';
import { timeOfId } from '../../platform/db/ids.ts';
import { isoOrNull } from '../../platform/time/clock.ts';
import type { DomainView } from './model.ts';
import type { KeySet } from './records/keys.ts';
import {
  type DnsSetup,
  keyNames,
  knownStatusOf,
  type RecordSource,
  recordsOf,
  waysOf,
} from './records/records.ts';

/** The parts of a domain's row that clients see. */
export interface DomainRow extends RecordSource, WarmUpSource {
  readonly id: string;
  readonly state: string;
  readonly context: DomainContext;
}

/**
 * The time that the records of retired keys must stay in DNS. Servers queue a message for up to five days
 * (RFC 5321 4.5.4.1) and its receiver then verifies the signature; the other two days are for later
 * forwarding.
 */
const RETIRED_RECORDS_MS = 7 * 86_400_000;

/** The last change of a domain by a client (epoch milliseconds). */
export const changedAtOf = ({ id, context }: Pick<DomainRow, 'id' | 'context'>): number =>
  context.changedAt ?? timeOfId(id);

/** A domain as clients see it, with the records that this installation asks for. */
export function viewOf(row: DomainRow, setup: DnsSetup): DomainView {
  const { id, name, state, context, keySets, trackingDomain, returnPath } = row;
  const [first, ...fallbacks] = waysOf(row, setup);
  return {
    id,
    name,
    status: state as DomainView['status'],
    livemode: true,
    provider: first,
    fallbacks,
    warmUps: row.warmUps.map((warmUp) => warmUpView(warmUp, row.warmUpDay)),
    openTracking: context.openTracking,
    clickTracking: context.clickTracking,
    trackingDomain,
    returnPath,
    createdAt: new Date(timeOfId(id)).toISOString(),
    updatedAt: new Date(changedAtOf(row)).toISOString(),
    verifiedAt: isoOrNull(context.verifiedAt),
    lastCheckedAt: isoOrNull(context.lastCheckedAt),
    dkimKeys: keySets.map((set) => keysView(name, set)),
    dnsRecords: recordsOf(row, setup).map((asked) => {
      const { purpose, type, ttl, priority, required, value, unset } = asked;
      const { status, found, error } = knownStatusOf(asked, context.records) ?? NEVER_CHECKED;
      return {
        purpose,
        type,
        name: asked.name,
        value,
        ttl,
        priority,
        required,
        status,
        found: [...found],
        error: unset ?? error,
        settable: unset === null,
      };
    }),
  };
}

/** The present day as the database has it, with the claims on each transport. */
export interface WarmUpDay {
  /** `2026-11-24`, in UTC. */
  readonly date: string;
  readonly claimed: Readonly<Record<string, number>>;
}

/** The warm-ups of a domain and their present day. */
interface WarmUpSource {
  readonly warmUps: readonly WarmUp[];
  readonly warmUpDay: WarmUpDay;
}

/** A warm-up as clients see it, with its present day. */
export const warmUpView = (warmUp: WarmUp, { date, claimed }: WarmUpDay): DomainView['warmUps'][number] => {
  const { provider, startedAt, perDay } = warmUp;
  const today = Date.parse(date);
  const allowed = allowedOn(warmUp, today);
  return {
    provider,
    startedAt,
    perDay: [...perDay],
    endsAt: endOf(warmUp),
    today:
      allowed === null
        ? null
        : { day: dayOf(warmUp, today) + 1, allowed, claimed: Math.min(allowed, claimed[provider] ?? 0) },
  };
};

const keysView = (domain: string, { selector, stage, since }: KeySet): DomainView['dkimKeys'][number] => ({
  selector,
  status: stage,
  recordNames: [...keyNames(domain, selector)],
  removableAt: stage === 'retired' ? new Date(since + RETIRED_RECORDS_MS).toISOString() : null,
});

const NEVER_CHECKED = { status: 'pending', found: [], error: null } as const;
