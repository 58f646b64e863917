import type { RecordStatus } from '../../../../machines/domain/context.ts';
import { DMARC_POLICIES, type DmarcPolicy, dmarcTextsIn, policyFor } from '../../../mail/dns/dmarc.ts';
import { readTags } from '../../../mail/dns/tag-list.ts';
import { registrableOf } from '../../../platform/text/host.ts';

/**
 * The DMARC policy that receivers apply to mail of a domain, by the record that its latest check found; null
 * without a record. The check does not keep where the record is: of one that may be the parent's the weaker
 * of `p` and `sp` is taken.
 */
export function knownPolicy(name: string, records: readonly RecordStatus[]): DmarcPolicy | null {
  const found = dmarcTextsIn(records.find(({ slot }) => slot === 'dmarc')?.found ?? []);
  const [text] = found;
  if (text === undefined || found.length > 1) return null;
  const tags = readTags(text);
  const policies = [name, registrableOf(name) ?? name].map(
    (domain) => policyFor(name, { domain, text, tags })?.policy,
  );
  return DMARC_POLICIES.find((policy) => policies.includes(policy)) ?? null;
}
