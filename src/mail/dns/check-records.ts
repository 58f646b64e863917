import { registrableOf } from '../../platform/text/host.ts';
import { checkDmarc } from './check-dmarc.ts';
import type { Answer } from './exchange.ts';
import type { Resolver } from './resolver.ts';
import { includedProblem } from './spf-within.ts';
import { type CheckedRecord, type ExpectedRecord, isSpf, judgeTxt } from './txt-rules.ts';

/** Checks each record of the sending domain `domain` by its own lookups; results are in the order given. */
export const checkRecords = (
  expected: readonly ExpectedRecord[],
  context: { readonly resolver: Resolver; readonly domain: string },
): Promise<CheckedRecord[]> => Promise.all(expected.map((record) => checkRecord(record, context)));

interface Context {
  readonly resolver: Resolver;
  readonly domain: string;
}

const checkRecord = async (record: ExpectedRecord, context: Context): Promise<CheckedRecord> => {
  const checked =
    record.purpose === 'dmarc'
      ? await checkDmarc(record, context)
      : await CHECK[record.type](record, context.resolver);
  if (checked.status === 'verified' || checked.status === 'unknown') return checked;
  const hint =
    (await conflictingAlias(record, context)) ??
    (checked.status === 'pending' ? await doubledName(record, context) : null);
  return hint === null ? checked : { ...checked, status: 'failed', ...hint };
};

const checkTxt = async (record: ExpectedRecord, resolver: Resolver): Promise<CheckedRecord> => {
  const answer = await resolver.txt(record.name);
  if (answer.status === 'failed') return unknown(record, answer.reason);
  const found = recordsIn(answer);
  const judgement = judgeTxt(record, found);
  if (!judgement.fine)
    return { status: judgement.missing ? 'pending' : 'failed', found, error: judgement.error };
  const problem = isSpf(record.value) ? await includedProblem(record, found, resolver) : null;
  return { status: 'verified', found, error: judgement.note ?? problem };
};

const checkMx = async (record: ExpectedRecord, resolver: Resolver): Promise<CheckedRecord> => {
  const answer = await resolver.mx(record.name);
  if (answer.status === 'failed') return unknown(record, answer.reason);
  const records = recordsIn(answer);
  const found = records.map(({ host, preference }) => `${preference} ${host}`);
  if (records.some(({ host }) => sameHost(host, record.value))) return verified(found);
  if (records.length === 0)
    return { status: 'pending', found, error: `There is no MX record at ${record.name} yet.` };
  return {
    status: 'failed',
    found,
    error: `The MX record at ${record.name} does not point to ${record.value}.`,
  };
};

const checkCname = async (record: ExpectedRecord, resolver: Resolver): Promise<CheckedRecord> => {
  const answer = await resolver.cname(record.name);
  if (answer.status === 'failed') return unknown(record, answer.reason);
  const found = recordsIn(answer);
  if (found.some((target) => sameHost(target, record.value))) return verified(found);
  if (found.length > 0)
    return {
      status: 'failed',
      found,
      error: `The CNAME record at ${record.name} does not point to ${record.value}.`,
    };
  return checkFlattened(record, resolver);
};

// Some DNS hosts answer with the addresses of the target instead of the alias ("flattening"), which is
// equivalent.
const checkFlattened = async (record: ExpectedRecord, resolver: Resolver): Promise<CheckedRecord> => {
  const [own, target] = await Promise.all([resolver.ipv4(record.name), resolver.ipv4(record.value)]);
  const found = recordsIn(own);
  if (found.length === 0)
    return { status: 'pending', found, error: `There is no CNAME record at ${record.name} yet.` };
  if (found.some((address) => recordsIn(target).includes(address))) return verified(found);
  return {
    status: 'failed',
    found,
    error: `There are address records at ${record.name} instead of a CNAME record to ${record.value}.`,
  };
};

const CHECK = { TXT: checkTxt, MX: checkMx, CNAME: checkCname } as const;

// RFC 1034 3.6.2: a name with an alias has no other records. DNS then answers with the records of the alias's
// target.
const conflictingAlias = async (
  { type, name }: ExpectedRecord,
  { resolver }: Context,
): Promise<Hint | null> => {
  if (type === 'CNAME') return null;
  const answer = await resolver.cname(name);
  if (answer.status !== 'found') return null;
  const found = answer.records.map((target) => `CNAME ${target}`);
  return {
    found,
    error: `${name} is an alias (CNAME) of ${answer.records[0]}, so it can have no ${type} record; remove the CNAME record.`,
  };
};

interface Hint {
  readonly found: readonly string[];
  readonly error: string;
}

// Most control panels append the zone, so that entering the full name doubles it. The zone is mostly that of
// the registered domain.
const doubledName = async (record: ExpectedRecord, { resolver, domain }: Context): Promise<Hint | null> => {
  for (const zone of new Set([domain, registrableOf(domain) ?? domain])) {
    if (!`.${record.name}`.endsWith(`.${zone}`)) continue;
    const doubled = `${record.name}.${zone}`;
    const checked = await CHECK[record.type]({ ...record, name: doubled }, resolver);
    if (checked.status !== 'verified') continue;
    const short = record.name === zone ? '@' : record.name.slice(0, -zone.length - 1);
    return {
      found: checked.found,
      error: `The record is at ${doubled}: your DNS host adds the domain by itself. Enter the name as ${short}.`,
    };
  }
  return null;
};

const recordsIn = <T>(answer: Answer<T>): readonly T[] => (answer.status === 'found' ? answer.records : []);

const verified = (found: readonly string[]): CheckedRecord => ({ status: 'verified', found, error: null });

const unknown = ({ type, name }: ExpectedRecord, reason: string): CheckedRecord => ({
  status: 'unknown',
  found: [],
  error: `Looking up the ${type} records of ${name} failed for now: ${reason}.`,
});

const sameHost = (a: string, b: string): boolean => bare(a) === bare(b);
const bare = (host: string): string => host.toLowerCase().replace(/\.$/, '');
