import { readFileSync } from 'node:fs';
import { YAML } from 'bun';
import { checkSender } from '../../src/mail/authentication/check-sender.ts';
import type { Answer } from '../../src/mail/dns/exchange.ts';
import type { MailExchange, Resolver } from '../../src/mail/dns/resolver.ts';

// Holds the check of senders against the public suites of SPF (RFC 7208, in pyspf: test/rfc7208-tests.yml)
// and of ARC (RFC 8617, in arc_test_suite: tests/arc-draft-validation-tests.yml), which are not kept here:
//   bun tests/failure/authentication-suites-long.ts RFC7208-TESTS.yml ARC-DRAFT-VALIDATION-TESTS.yml
// It ends with an error where a result differs that is not listed here.

/** Results that differ, all of mailauth 7.1.0. Nothing here trusts ARC, and none of SPF becomes a pass. */
const KNOWN: Readonly<Record<string, string>> = {
  'bare-ip6': 'an address without a colon is skipped, so that the end of the record counts',
  'exp-syntax-error': 'the explanation is not read',
  'exp-twice': 'the explanation is not read',
  'exp-only-macro-char': 'the explanation is not read',
  'invalid-hello-macro': 'permerror in place of fail',
  'hello-domain-literal': 'permerror in place of fail',
  'require-valid-helo': 'permerror in place of fail',
  cv_fail_i1_as_cv_fail: 'a chain that says that it failed is fail here and none in the suite',
  cv_fail_i2_as2_fail: 'a chain that says that it failed is fail here and none in the suite',
  cv_fail_i2_as1_fail: 'a chain that says that it failed is fail here and none in the suite',
  ams_fields_h_empty: 'a signature of no field is fail',
  as_format_inv_tag_key: 'the seal is read more leniently',
  as_format_tags_dup: 'the seal is read more leniently',
  as_format_tags_key_case: 'the seal is read more leniently',
  as_format_tags_sc: 'the seal is read more leniently',
};

type Records = readonly (string | Readonly<Record<string, unknown>>)[];

interface Suite {
  readonly description?: string;
  readonly tests: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly zonedata?: Readonly<Record<string, Records>>;
  readonly 'txt-records'?: Readonly<Record<string, string>>;
}

const TIMEOUT = { status: 'failed', reason: 'timeout' } as const;
const NO_NAME = { status: 'nxdomain' } as const;
/** Aliases that are followed. */
const MOST_ALIASES = 8;

/**
 * Answers from the data of a suite. In that of SPF, a record SPF stands for TXT where the name has no TXT.
 */
function resolverOf(zone: ReadonlyMap<string, Records>): Resolver {
  function look<Value>(
    name: string,
    type: string,
    read: (value: unknown) => Value,
    aliases = 0,
  ): Answer<Value> {
    const records = zone.get(name.toLowerCase().replace(/\.$/, ''));
    if (!records || aliases > MOST_ALIASES) return NO_NAME;
    const hasTxt = records.some((record) => typeof record === 'object' && 'TXT' in record);
    const found: Value[] = [];
    for (const record of records) {
      if (typeof record === 'string') {
        if (found.length === 0) return TIMEOUT;
        continue;
      }
      for (const [given, value] of Object.entries(record)) {
        if (given === 'SPF' && hasTxt) continue;
        const key = given === 'SPF' ? 'TXT' : given;
        if (key === 'CNAME' && type !== 'CNAME') return look(String(value), type, read, aliases + 1);
        if (key !== type || value === 'NONE') continue;
        if (value === 'TIMEOUT') return TIMEOUT;
        found.push(read(value));
      }
    }
    return found.length > 0 ? { status: 'found', records: found } : { status: 'nodata' };
  }
  const texts = (type: string) => (name: string) =>
    Promise.resolve(look(name, type, (value) => (Array.isArray(value) ? value.join('') : String(value))));
  const exchange = (value: unknown): MailExchange => {
    const [preference, host] = value as readonly [number, string];
    return { host, preference };
  };
  return {
    txt: texts('TXT'),
    ipv4: texts('A'),
    ipv6: texts('AAAA'),
    cname: texts('CNAME'),
    pointers: texts('PTR'),
    mx: (name) => Promise.resolve(look(name, 'MX', exchange)),
    reverse: () => Promise.resolve(NO_NAME),
  };
}

const suitesIn = (file: string): readonly Suite[] =>
  ([YAML.parse(readFileSync(file, 'latin1'))].flat() as readonly (Suite | null)[]).filter(
    (one) => one !== null,
  );

const EMPTY = Buffer.from('From: a@from.invalid\r\nSubject: x\r\n\r\nx\r\n');

async function spfOf(test: Suite['tests'][string], resolver: Resolver): Promise<readonly string[]> {
  const { host, helo = '', mailfrom = '', result } = test;
  const sender = { client: String(host), helo: String(helo), from: String(mailfrom), raw: EMPTY };
  const { spf } = await checkSender(sender, resolver);
  return [spf.result, ...[result].flat().map((word) => String(word).toLowerCase())];
}

async function arcOf(
  { message, cv }: Suite['tests'][string],
  resolver: Resolver,
): Promise<readonly string[]> {
  const raw = Buffer.from(String(message ?? '').replace(/\r?\n/g, '\r\n'), 'latin1');
  const { arc } = await checkSender({ client: null, helo: 'x', from: '', raw }, resolver);
  return [arc.result, String(cv || 'none').toLowerCase()];
}

const [spfFile, arcFile] = process.argv.slice(2);
if (spfFile === undefined || arcFile === undefined)
  throw new Error('Name both files: bun tests/failure/authentication-suites-long.ts SPF.yml ARC.yml');
const counts = { same: 0, known: 0, new: 0 };
for (const [file, resultsOf] of [[spfFile, spfOf] as const, [arcFile, arcOf] as const])
  for (const suite of suitesIn(file)) {
    const texts = Object.entries(suite['txt-records'] ?? {}).map(
      ([name, text]) => [name, [{ TXT: String(text).trim() }]] as const,
    );
    const zone = [...Object.entries(suite.zonedata ?? {}), ...texts];
    const resolver = resolverOf(new Map(zone.map(([name, records]) => [name.toLowerCase(), records])));
    for (const [name, test] of Object.entries(suite.tests)) {
      const [seen = '', ...wanted] = await resultsOf(test, resolver);
      const end = wanted.includes(seen) ? 'same' : name in KNOWN ? 'known' : 'new';
      counts[end]++;
      if (end !== 'same')
        console.log(`${end}: ${name}: ${seen}, wanted ${wanted.join(' or ')}. ${KNOWN[name] ?? ''}`);
    }
  }
console.log(`${counts.same} the same, ${counts.known} with a listed reason, ${counts.new} others`);
process.exitCode = counts.new === 0 && counts.same > 0 ? 0 : 1;
