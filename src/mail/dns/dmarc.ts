/**
 * The DMARC policy of a domain (RFC 9989 4.10): its own record first, then those of its parents by the tree
 * walk.
 */
import type { Resolver } from './resolver.ts';
import { readTags } from './tag-list.ts';

/** A DMARC record, and the domain that publishes it. */
export interface DmarcRecord {
  readonly domain: string;
  readonly text: string;
  readonly tags: ReadonlyMap<string, string>;
}

/** The policies, from the weakest on. */
export const DMARC_POLICIES = ['none', 'quarantine', 'reject'] as const;
export type DmarcPolicy = (typeof DMARC_POLICIES)[number];

/** RFC 9989 4.7: the version comes first, and its value is compared with its case. */
const VERSION = /^[vV][ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/;

/** The texts of a name that are DMARC records. Several count as none (RFC 9989 4.10, steps 2 and 6). */
export const dmarcTextsIn = (found: readonly string[]): readonly string[] =>
  found.map((text) => text.trim()).filter((text) => VERSION.test(text));

/**
 * RFC 9989 4.10, step 4: a longer name is shortened to seven labels at once, so that a walk has eight
 * questions at most.
 */
const MOST_LABELS = 7;

/** The names that a walk from a domain asks, in their order. */
export function walkOf(domain: string): readonly string[] {
  const labels = domain.split('.');
  const last = labels.slice(-MOST_LABELS).map((_, index, all) => all.slice(index).join('.'));
  return labels.length > MOST_LABELS ? [domain, ...last] : last;
}

/** The records that a walk found, the longest name first. */
export interface TreeWalk {
  readonly records: readonly DmarcRecord[];
  /** The reason of the name server, when it gave no answer for one of the names; the walk ended there. */
  readonly failure: string | null;
}

/**
 * Asks for the records from a domain upwards, until one says that it is a public suffix, or that it is none.
 */
export async function walkTree(domain: string, resolver: Pick<Resolver, 'txt'>): Promise<TreeWalk> {
  const records: DmarcRecord[] = [];
  for (const name of walkOf(domain)) {
    const answer = await resolver.txt(`_dmarc.${name}`);
    if (answer.status === 'failed') return { records, failure: answer.reason };
    const texts = dmarcTextsIn(answer.status === 'found' ? answer.records : []);
    const [text] = texts;
    if (text === undefined || texts.length > 1) continue;
    const tags = readTags(text);
    records.push({ domain: name, text, tags });
    if (/^[yn]$/i.test(tags.get('psd') ?? '')) break;
  }
  return { records, failure: null };
}

/** The organizational domain (RFC 9989 4.10.2), which decides what is aligned with the domain. */
export function organizationalDomain(domain: string, records: readonly DmarcRecord[]): string {
  for (const record of records) {
    const psd = record.tags.get('psd')?.toLowerCase();
    if (psd === 'n') return record.domain;
    if (psd === 'y' && record.domain !== domain)
      return domain
        .split('.')
        .slice(-(record.domain.split('.').length + 1))
        .join('.');
  }
  return records.at(-1)?.domain ?? domain;
}

/**
 * The record that applies to a domain: its own, that of its organizational domain, or that of the registry
 * above it.
 */
export function applicableRecord(domain: string, records: readonly DmarcRecord[]): DmarcRecord | null {
  const organization = organizationalDomain(domain, records);
  const last = records.at(-1);
  const isRegistry = last?.tags.get('psd')?.toLowerCase() === 'y';
  return (
    records.find((record) => record.domain === domain) ??
    records.find((record) => record.domain === organization) ??
    (isRegistry && last ? last : null)
  );
}

/** The policy that receivers apply to mail of a domain. */
export interface AppliedPolicy {
  readonly policy: DmarcPolicy;
  /** True for `t=y`: receivers apply the next weaker policy, and report (RFC 9989 4.7). */
  readonly isTesting: boolean;
}

/** True of a record that names an address for reports (RFC 9989 4.10.1). */
export const asksForReports = (tags: ReadonlyMap<string, string>): boolean =>
  /^[a-z][a-z0-9+.-]*:/i.test(tags.get('rua') ?? '');

const policyIn = (value: string | undefined): DmarcPolicy | null =>
  DMARC_POLICIES.find((policy) => policy === value?.toLowerCase()) ?? null;

/**
 * The policy of a record for a domain: `p` at the domain itself; below it `np` where the domain does not
 * exist, else `sp`. A record without a valid policy is `none` where it asks for reports, and counts for
 * nothing otherwise (RFC 9989 4.10.1).
 */
export function policyFor(
  domain: string,
  { domain: publisher, tags }: DmarcRecord,
  exists = true,
): AppliedPolicy | null {
  const p = policyIn(tags.get('p'));
  const isValid =
    p !== null && ['sp', 'np'].every((tag) => !tags.has(tag) || policyIn(tags.get(tag)) !== null);
  if (!isValid) return asksForReports(tags) ? { policy: 'none', isTesting: false } : null;
  const below = policyIn(tags.get('sp')) ?? p;
  const missing = policyIn(tags.get('np')) ?? below;
  const published = publisher === domain ? p : exists ? below : missing;
  const isTesting = tags.get('t')?.toLowerCase() === 'y';
  return { policy: isTesting ? weaker(published) : published, isTesting };
}

const weaker = (policy: DmarcPolicy): DmarcPolicy =>
  DMARC_POLICIES[Math.max(0, DMARC_POLICIES.indexOf(policy) - 1)] ?? 'none';

/** The most addresses of a record that are looked at. */
const MOST_ADDRESSES = 10;

/**
 * RFC 9989 4.8: addresses are separated by commas; a size such as `!10m` is a form of RFC 7489 that still
 * occurs.
 */
export const MAILTO = /^mailto:[^@]+@([a-z0-9.-]+?)\.?(?:![0-9]+[kmgt]?)?$/i;

/** The hosts of the `mailto:` addresses of `rua`, each once. */
export const reportHosts = (rua: string): readonly string[] => [
  ...new Set(
    rua
      .split(',')
      .slice(0, MOST_ADDRESSES)
      .flatMap((uri) => MAILTO.exec(uri.trim().split('?')[0] ?? '')?.[1]?.toLowerCase() ?? []),
  ),
];
