import { registrableOf } from '../../platform/text/host.ts';
import { applicableRecord, type DmarcRecord, dmarcTextsIn, reportHosts, walkTree } from './dmarc.ts';
import { ignoredTags } from './dmarc-tags.ts';
import type { Resolver } from './resolver.ts';
import { type CheckedRecord, type ExpectedRecord, judgeTxt, policyProblem } from './txt-rules.ts';

/**
 * Checks the DMARC policy of a sending domain as receivers look for it (RFC 9989 4.10): at the domain itself,
 * then at its parents. The policy of a registry above the registrable domain is none of the owner's, so that
 * the own one is missing then.
 */
export async function checkDmarc(
  record: ExpectedRecord,
  { resolver, domain }: { readonly resolver: Resolver; readonly domain: string },
): Promise<CheckedRecord> {
  const { records, failure } = await walkTree(domain, resolver);
  const own = records.find((each) => each.domain === domain);
  if (failure !== null && own === undefined) return unknown(record, failure);
  const applied = own ?? applicableRecord(domain, records);
  const owned = applied !== null && (applied === own || isOwned(applied.domain)) ? applied : null;
  if (owned === null) return withoutPolicy(record, { resolver, domain });
  const found = [owned.text];
  const name = `_dmarc.${owned.domain}`;
  const problem = policyProblem(name, owned.tags) ?? (await reportProblem(owned, resolver));
  const ignored = ignoredTags(name, owned.text);
  return problem === null
    ? { status: 'verified', found, error: ignored }
    : { status: 'failed', found, error: ignored === null ? problem : `${problem} ${ignored}` };
}

const isOwned = (domain: string): boolean => registrableOf(domain) !== null;

/** No record counts: there is none, there are several, or receivers read no policy in it. */
async function withoutPolicy(
  record: ExpectedRecord,
  { resolver, domain }: { readonly resolver: Resolver; readonly domain: string },
): Promise<CheckedRecord> {
  const own = await judgedAt(`_dmarc.${domain}`, record, resolver);
  return own.status === 'pending' ? judgedAt(record.name, record, resolver) : own;
}

async function judgedAt(name: string, record: ExpectedRecord, resolver: Resolver): Promise<CheckedRecord> {
  const answer = await resolver.txt(name);
  if (answer.status === 'failed') return unknown(record, answer.reason);
  const found = answer.status === 'found' ? answer.records : [];
  const judgement = judgeTxt({ ...record, name }, found);
  if (judgement.fine) return { status: 'verified', found, error: judgement.note };
  return { status: judgement.missing ? 'pending' : 'failed', found, error: judgement.error };
}

/**
 * RFC 9990 4: reports go to an address of another organization only where that one has agreed to it in DNS.
 * Reports of a domain without that record are dropped by those who write them, and the owner hears nothing.
 */
async function reportProblem({ domain, tags }: DmarcRecord, resolver: Resolver): Promise<string | null> {
  for (const host of reportHosts(tags.get('rua') ?? '')) {
    if (host === domain || registrableOf(host) === registrableOf(domain)) continue;
    const name = `${domain}._report._dmarc.${host}`;
    const answer = await resolver.txt(name);
    if (answer.status === 'failed') continue;
    const texts = answer.status === 'found' ? dmarcTextsIn(answer.records) : [];
    if (texts.length === 0)
      return `No report will go to ${host}, which has not agreed to take reports about ${domain}: its owner has to set the TXT record ${name} to v=DMARC1; or take the address out of rua=.`;
  }
  return null;
}

const unknown = ({ name }: ExpectedRecord, reason: string): CheckedRecord => ({
  status: 'unknown',
  found: [],
  error: `Looking up the TXT records of ${name} failed for now: ${reason}.`,
});
