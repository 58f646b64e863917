import type { AggregateReport, Disposition } from '../../mail/inbound/aggregate/aggregate-report.ts';
import { type VerifiedDomain, withParents } from '../domains/queries.ts';

/** Messages that a report counts for the domains of a name. */
export interface CountedRow {
  readonly name: string;
  readonly source: string;
  readonly isDkimAligned: boolean;
  readonly isSpfAligned: boolean;
  readonly disposition: Disposition;
  readonly messages: number;
}

export interface CountedResult {
  readonly name: string;
  /** `successful`, or the type of a failure. */
  readonly result: string;
  readonly sessions: number;
}

/** A domain that a name counts for. */
export interface NameOwner {
  readonly name: string;
  readonly domainId: string;
}

/**
 * The numbers of a report, and the domains that they count for: apart, since a name may have many owners and
 * many rows.
 */
export interface CountedNumbers {
  readonly rows: readonly CountedRow[] | readonly CountedResult[];
  readonly owners: readonly NameOwner[];
}

/** Names in a report that are looked up. */
const MOST_NAMES = 1_000;

/** The names that a report is about. */
export const namesIn = (report: AggregateReport): readonly string[] => {
  const named = report.kind === 'dmarc' ? report.rows : report.policies;
  return [...new Set(named.map((each) => ('from' in each ? each.from : each.domain)))].slice(0, MOST_NAMES);
};

/**
 * The domains that a name counts for: in each workspace the nearest one. A workspace that has verified
 * mail.example.com sees nothing of its neighbours below example.com.
 */
export function domainsOf(name: string, verified: readonly VerifiedDomain[]): readonly VerifiedDomain[] {
  const nearest = new Map<string, VerifiedDomain>();
  const names = withParents(name);
  for (const domain of verified) {
    if (!names.includes(domain.name)) continue;
    const known = nearest.get(domain.workspaceId);
    if (!known || known.name.length < domain.name.length) nearest.set(domain.workspaceId, domain);
  }
  return [...nearest.values()];
}
