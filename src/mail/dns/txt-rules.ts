/**
 * The rules by which a TXT record matches the expected one. Pure functions from the records found to a
 * verdict.
 */

import { partNotTaken } from './dkim-key-tags.ts';
import { asksForReports, dmarcTextsIn } from './dmarc.ts';
import { ignoredTags } from './dmarc-tags.ts';
import { allows, refusalOf } from './spf-network.ts';
import { isLookedUp, isTerm, MOST_LOOKUPS, wrongTerm } from './spf-terms.ts';
import { readTags } from './tag-list.ts';

/** A record that the owner of a domain has to set. */
export interface ExpectedRecord {
  readonly purpose: 'dkim' | 'spf' | 'returnPath' | 'dmarc' | 'tlsReports' | 'mx' | 'tracking';
  readonly type: 'TXT' | 'MX' | 'CNAME';
  readonly name: string;
  readonly value: string;
  /** The priority of an MX record. */
  readonly priority: number | null;
}

/** The result for one record. */
export interface CheckedRecord {
  /**
   * `pending`: not set yet. `failed`: set, and wrong. `unknown`: DNS gave no answer, so the earlier result
   * still holds.
   */
  readonly status: 'verified' | 'pending' | 'failed' | 'unknown';
  /** The records that were found. */
  readonly found: readonly string[];
  /**
   * A sentence for the owner of the domain; null where nothing is wrong. A verified record may have parts
   * that receivers ignore.
   */
  readonly error: string | null;
}

/** The verdict. `missing`: no record found is meant to be this one, so it may not be published yet. */
export type Judgement =
  | { readonly fine: true; readonly note: string | null }
  | { readonly fine: false; readonly missing: boolean; readonly error: string };

const FINE: Judgement = { fine: true, note: null };
const fineBut = (note: string | null): Judgement => ({ fine: true, note });
const missing = (error: string): Judgement => ({ fine: false, missing: true, error });
const wrong = (error: string): Judgement => ({ fine: false, missing: false, error });

/** Judges the TXT records at the name of `expected`. */
export function judgeTxt(expected: ExpectedRecord, found: readonly string[]): Judgement {
  const judgement = judgeAsFound(expected, found);
  if (judgement.fine) return judgement;
  const mark = MARKS_OF_PANELS.find(([, pattern]) => found.some((text) => pattern.test(text)));
  if (mark === undefined || !judgeAsFound(expected, found.map(withoutMarks)).fine) return judgement;
  return wrong(
    `The TXT record at ${expected.name} has ${mark[0]} in its text, which your DNS host keeps: enter the value without them.`,
  );
}

/** Characters of zone files and of web pages that are pasted with a value. */
const MARKS_OF_PANELS: readonly (readonly [string, RegExp])[] = [
  ['quotation marks', /["“”]/],
  ['backslashes', /\\/],
  ['invisible characters', /[\u00a0\u200b-\u200f\u202f\ufeff]/],
  ['leading spaces', /^ /],
];

const withoutMarks = (text: string): string =>
  text
    .replace(/["“”] *["“”]/g, '')
    .replace(/["“”\\\u200b-\u200f\ufeff]/g, '')
    .replace(/[\u00a0\u202f]/g, ' ')
    .trimStart();

const judgeAsFound = (expected: ExpectedRecord, found: readonly string[]): Judgement => {
  if (expected.purpose === 'dkim') return judgeDkim(expected, found);
  if (expected.purpose === 'dmarc') return judgeDmarc(expected, found);
  if (expected.purpose === 'tlsReports') return judgeTlsReports(expected, found);
  if (isSpf(expected.value)) return judgeSpf(expected, found);
  return found.some((text) => text.trim() === expected.value)
    ? FINE
    : missing(`No TXT record at ${expected.name} has this value.`);
};

const judgeDkim = ({ name, value }: ExpectedRecord, found: readonly string[]): Judgement => {
  const keys = found.filter((text) => readTags(text).has('p'));
  const [key, ...others] = keys;
  if (key === undefined) return missing(`There is no DKIM key at ${name} yet.`);
  // RFC 6376 3.6.2.2: with several keys a verifier may take any, so that signatures fail now and then.
  if (others.length > 0)
    return wrong(`There are ${keys.length} DKIM keys at ${name}; leave only the one given here.`);
  const asked = readTags(value);
  const [is = '', should = ''] = [readTags(key).get('p'), asked.get('p')];
  if (is === should) {
    const part = partNotTaken(key, asked.get('k') ?? 'rsa');
    if (part === null) return FINE;
    return wrong(
      `The DKIM key at ${name} is the right one, but receivers ignore it because of ${part}: enter the value given here as it is.`,
    );
  }
  if (is === '') return wrong(`The DKIM key at ${name} is revoked (its p= is empty).`);
  if (should.startsWith(is))
    return wrong(
      `The DKIM key at ${name} is cut off after ${is.length} of ${should.length} characters; enter the whole value, in several quoted strings if need be.`,
    );
  return wrong(`The DKIM key at ${name} is another one; replace it with the value given here.`);
};

const judgeDmarc = ({ name }: ExpectedRecord, found: readonly string[]): Judgement => {
  const policies = dmarcTextsIn(found);
  const [policy, ...others] = policies;
  if (policy === undefined)
    return found.some((text) => MEANT_AS_POLICY.test(text))
      ? wrong(
          `The TXT record at ${name} is no DMARC policy for receivers: it has to begin with v=DMARC1 in these letters, and a semicolon.`,
        )
      : missing(`There is no DMARC policy at ${name} yet.`);
  // RFC 9989 4.10, steps 2 and 6: several policies count as none.
  if (others.length > 0)
    return wrong(`There are ${policies.length} DMARC policies at ${name}, so none counts; leave one.`);
  const problem = policyProblem(name, readTags(policy));
  return problem === null ? fineBut(ignoredTags(name, policy)) : wrong(problem);
};

/** A text for which receivers know no policy (RFC 9989 4.7), and which its owner cannot mean otherwise. */
const MEANT_AS_POLICY = /v\s*=\s*dmarc|^\s*dmarc1\b|(?:^|;)\s*p\s*=\s*(?:none|quarantine|reject)\b/i;

const POLICY = /^(none|quarantine|reject)$/i;

/**
 * The problem of a DMARC record; null where there is none. Any policy is fine: the choice is the owner's. A
 * record without p= counts as p=none where it asks for reports (RFC 9989 4.10.1); a misspelt policy does so
 * as well, which its owner cannot mean.
 */
export function policyProblem(name: string, tags: ReadonlyMap<string, string>): string | null {
  const choices = 'none, quarantine or reject';
  if (!tags.has('p') && !asksForReports(tags))
    return `The DMARC policy at ${name} has no valid p= (${choices}).`;
  const misspelt = ['p', 'sp', 'np'].find((tag) => tags.has(tag) && !POLICY.test(tags.get(tag) ?? ''));
  return misspelt === undefined
    ? null
    : `The DMARC policy at ${name} has no valid ${misspelt}= (${choices}).`;
}

/** RFC 8460 3: a record may name any address, begins with its version, and several records count as none. */
const judgeTlsReports = ({ name }: ExpectedRecord, found: readonly string[]): Judgement => {
  const policies = found.filter((text) => /^v=TLSRPTv1\s*;/.test(text));
  const [policy, ...others] = policies;
  if (policy === undefined) return missing(`There is no record for TLS reports at ${name} yet.`);
  if (others.length > 0)
    return wrong(
      `There are ${policies.length} records for TLS reports at ${name}, so none counts; leave one.`,
    );
  return /^(mailto|https):/i.test(readTags(policy).get('rua') ?? '')
    ? FINE
    : wrong(`The record for TLS reports at ${name} has no address in rua= (mailto: or https:).`);
};

const judgeSpf = ({ name, value }: ExpectedRecord, found: readonly string[]): Judgement => {
  const policies = found.filter(isSpf);
  const [policy, ...others] = policies;
  if (policy === undefined) return missing(`There is no SPF record at ${name} yet.`);
  // RFC 7208 4.5: two records are a permanent error, whatever they say.
  if (others.length > 0)
    return wrong(
      `There are ${policies.length} SPF records at ${name}, so none counts; ${advice('merge them into one', policies)}`,
    );
  const unknown = wrongTerm(policy);
  if (unknown !== null)
    return wrong(
      `The SPF record at ${name} has ${unknown}, for which receivers refuse all of it; correct it.`,
    );
  const { terms: present, all } = readTerms(policy);
  const asked = readTerms(value).terms;
  const refusal = asked.flatMap((mechanism) => refusalOf(present, mechanism) ?? [])[0];
  if (refusal !== undefined)
    return wrong(
      `The SPF record at ${name} does not let the server through because of ${refusal}, which comes first; ${advice('change it to', [`v=spf1 ${asked.join(' ')}`, policy])}`,
    );
  const absent = asked.filter((mechanism) => !present.some((term) => allows(term, mechanism)));
  // Behind an `all` that lets everyone through, nothing needs to be read.
  if (absent.length === 0 || /^\+?all$/.test(all ?? '')) {
    const number = lookupsOf(present, all);
    if (number <= MOST_LOOKUPS) return FINE;
    const problem = `In the SPF record at ${name}, ${leaveOut(number)}.`;
    return lookupsOf(readFor(asked, present), all) > MOST_LOOKUPS ? wrong(problem) : fineBut(problem);
  }
  const words = policy.toLowerCase().split(/\s+/);
  const isBehindAll = absent.every((mechanism) => words.some((term) => allows(term, mechanism)));
  const problem = isBehindAll
    ? `has ${absent.join(' ')} behind its all, where nothing is read`
    : `lacks ${absent.join(' ')}`;
  return wrong(`The SPF record at ${name} ${problem}; ${advice('change it to', [policy, value])}`);
};

/**
 * The terms that receivers read for mail from a server of these mechanisms: none behind the first one that
 * matches.
 */
function readFor(asked: readonly string[], present: readonly string[]): readonly string[] {
  const places = asked.map((mechanism) => present.findIndex((term) => allows(term, mechanism)));
  return places.includes(-1) ? present : present.slice(0, Math.max(...places) + 1);
}

/**
 * The record that allows what these allow, behind what its owner has to leave out and the words that lead to
 * it.
 */
function advice(words: string, policies: readonly string[]): string {
  const unread = policies.flatMap((policy) => readTerms(policy).terms.filter((term) => !isTerm(term)));
  const record = merged(policies);
  const { terms, all } = readTerms(record);
  const number = lookupsOf(terms, all);
  const steps = [
    ...(unread.length > 0
      ? [`leave out ${unread.join(' ')}, for which receivers refuse all of it, and`]
      : []),
    ...(number > MOST_LOOKUPS ? [`${leaveOut(number)}, and`] : []),
    `${words}: ${record}`,
  ];
  return steps.join(' ');
}

const leaveOut = (number: number): string =>
  `leave out ${number - MOST_LOOKUPS} of its ${number} terms that are looked up, since receivers refuse a record with more than ${MOST_LOOKUPS} (RFC 7208 4.6.4)`;

/** The terms that receivers look up. A redirect is followed where there is no `all` (RFC 7208 6.1). */
const lookupsOf = (terms: readonly string[], all: string | null): number =>
  terms.filter((term) => isLookedUp(term) && (all === null || !term.startsWith('redirect='))).length;

/**
 * One record that allows what they allow. A redirect takes the place of `all`, and is read last (RFC 7208
 * 6.1).
 */
const merged = (policies: readonly string[]): string => {
  const read = policies.map(readTerms);
  const terms = [...new Set(read.flatMap((policy) => policy.terms))].filter(isTerm);
  const redirects = terms.filter((term) => term.startsWith('redirect='));
  const explanations = terms.filter((term) => term.startsWith('exp='));
  // Each of the two may be there once (RFC 7208 6).
  const others = terms.filter((term) => !redirects.includes(term) && !explanations.slice(1).includes(term));
  const all =
    read[0]?.all ??
    (redirects.length > 0 ? null : (read.find((policy) => policy.all !== null)?.all ?? '~all'));
  return ['v=spf1', ...others, ...(all === null ? redirects.slice(0, 1) : [all])].join(' ');
};

/** The terms of a policy in lower case, without what is behind `all` and so never read (RFC 7208 5.1). */
export function readTerms(policy: string): {
  readonly terms: readonly string[];
  readonly all: string | null;
} {
  const terms = policy.trim().toLowerCase().split(/ +/).slice(1);
  const at = terms.findIndex((term) => /^[-~?+]?all$/.test(term));
  return at === -1 ? { terms, all: null } : { terms: terms.slice(0, at), all: terms[at] ?? null };
}

/** True for an SPF record: nothing may come before its version (RFC 7208 4.5). */
export const isSpf = (text: string): boolean => /^v=spf1(?: |$)/i.test(text);
