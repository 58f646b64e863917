import type { DomainContext } from '../../../machines/domain-context.ts';
import { timeOfId } from '../../db/ids.ts';
import { isoOrNull } from '../../time/clock.ts';
import type { KeySet } from './keys.ts';
import type { DomainView } from './model.ts';
import { type DnsSetup, keyNames, type RecordSource, recordsOf, standingOf, transportOf } from './records.ts';

/** A domain's row, as far as clients see it. */
export interface DomainRow extends RecordSource {
  readonly id: string;
  readonly state: string;
  readonly context: DomainContext;
}

/**
 * So long the records of retired keys must stay. Servers queue a message for five days (RFC 5321 4.5.4.1), and whoever
 * receives it then checks the signature it was sent with; the rest is for what forwards or checks later.
 */
const RETIRED_RECORDS_MS = 7 * 86_400_000;

/** A domain as clients see it, with the records that this installation asks for now. */
export function viewOf(row: DomainRow, setup: DnsSetup): DomainView {
  const { id, name, state, context, keySets, trackingDomain, returnPath } = row;
  return {
    id,
    name,
    status: state as DomainView['status'],
    livemode: true,
    provider: transportOf(row, setup),
    openTracking: context.openTracking,
    clickTracking: context.clickTracking,
    trackingDomain,
    returnPath,
    createdAt: new Date(timeOfId(id)).toISOString(),
    verifiedAt: isoOrNull(context.verifiedAt),
    lastCheckedAt: isoOrNull(context.lastCheckedAt),
    dkimKeys: keySets.map((set) => keysView(name, set)),
    dnsRecords: recordsOf(row, setup).map((asked) => {
      const { purpose, type, ttl, priority, required, value } = asked;
      const { status, found, error } = standingOf(asked, context.records) ?? UNSEEN;
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
        error,
      };
    }),
  };
}

const keysView = (domain: string, { selector, stage, since }: KeySet): DomainView['dkimKeys'][number] => ({
  selector,
  status: stage,
  recordNames: [...keyNames(domain, selector)],
  removableAt: stage === 'retired' ? new Date(since + RETIRED_RECORDS_MS).toISOString() : null,
});

const UNSEEN = { status: 'pending', found: [], error: null } as const;
