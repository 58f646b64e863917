import { arc } from 'mailauth/lib/arc/index.js';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { dmarc } from 'mailauth/lib/dmarc/index.js';
import { spf } from 'mailauth/lib/spf/index.js';
import type { Resolver } from '../dns/resolver.ts';
import { boundedHeader } from './bounded-header.ts';
import { boundedLookups, LOOKUP_LIMITS, type LookupLimits } from './bounded-lookups.ts';
import { organizationOf } from './organization.ts';
import { type AuthenticationResult, type SenderResults, UNCHECKED } from './sender-results.ts';
import { isShownAuthor } from './shown-author.ts';

/** A message, and the connection that it came by. */
export interface ReceivedMessage {
  /** The address of the client; null of a message that was read of a mailbox, whose SPF is unknown. */
  readonly client: string | null;
  /** The workspace whose mailbox it was read of. */
  readonly workspaceId?: string;
  readonly helo: string;
  /** The envelope sender; '' for the null one. */
  readonly from: string;
  readonly raw: Uint8Array;
}

/** SPF alone, so that it cannot use up the time of the others. */
const SPF_MS = 10_000;

/**
 * Checks SPF (RFC 7208), DKIM (RFC 6376, 8301, 8463), DMARC (RFC 9989, with the tree walk) and ARC (RFC
 * 8617). mailauth does each; its `authenticate` would also load undici and a reader of certificates for BIMI.
 */
export async function checkSender(
  { client, helo, from, raw }: ReceivedMessage,
  resolver: Resolver,
  limits: LookupLimits = LOOKUP_LIMITS,
): Promise<SenderResults> {
  const message = boundedHeader(raw);
  if (message === null) return UNCHECKED;
  const lookup = boundedLookups(resolver, limits);
  const [signed, sent] = await Promise.all([
    // RFC 8301 3.1: rsa-sha1 proves nothing any more.
    dkimVerify(message, { resolver: lookup, sender: from, rejectRsaSha1: true }),
    client === null
      ? null
      : spf({ sender: from, ip: client, helo, mta: 'localhost', resolver: lookup, maxElapsedTime: SPF_MS }),
  ]);
  const passed = signed.results.filter((one) => one.status.result === 'pass' && coversBody(one));
  const domains = [...new Set(passed.flatMap(({ signingDomain }) => signingDomain?.toLowerCase() ?? []))];
  const spfDomain = !sent || sent.domain === '-' ? null : (sent.domain ?? null);
  const spfDomains = sent?.status.result === 'pass' && spfDomain !== null ? [spfDomain] : [];
  const chain = signed.arc ? await arc(signed.arc as never, { resolver: lookup }) : null;
  const verdict = await dmarc({
    headerFrom: signed.headerFrom,
    fromFields: signed.fromFields,
    spfDomains,
    dkimDomains: passed.flatMap(({ id, signingDomain }) =>
      signingDomain === undefined ? [] : [{ ...(id !== undefined && { id }), domain: signingDomain }],
    ),
    resolver: lookup,
  });
  const named = verdict === false ? null : (verdict.status.header?.from?.toLowerCase() ?? null);
  const isShown = named === null || (await isShownAuthor(named, message));
  const author = isShown ? named : null;
  const known = verdict === false || !isShown ? 'permerror' : resultOf(verdict.status.result);
  // SPF might have proven it.
  const result = sent === null && known === 'fail' ? 'temperror' : known;
  return {
    spf: { result: sent ? resultOf(sent.status.result) : 'none', domain: spfDomain },
    dkim: {
      result: dkimResult(signed.results.map((one) => (coversBody(one) ? one.status.result : 'policy'))),
      domains,
    },
    dmarc: {
      result,
      policy: verdict === false || result === 'none' ? null : policyOf(verdict.policy),
      domain: author,
    },
    arc: { result: resultOf(chain?.status.result ?? 'none') },
    author: isProven(author, result, [...domains, ...spfDomains]) ? author : null,
  };
}

/**
 * False for a signature that leaves a part of the body to others by `l=`: anybody with one such message could
 * write any text in the name of its signer (RFC 6376 8.2).
 */
const coversBody = ({
  canonBodyLengthLimited = false,
  canonBodyLength = 0,
  canonBodyLengthTotal = 0,
}: {
  readonly canonBodyLengthLimited?: boolean;
  readonly canonBodyLength?: number;
  readonly canonBodyLengthTotal?: number;
}): boolean => !canonBodyLengthLimited || canonBodyLength >= canonBodyLengthTotal;

/** Without a policy the registrable domain is the organization. */
const isProven = (author: string | null, result: AuthenticationResult, proven: readonly string[]): boolean =>
  author !== null &&
  (result === 'pass' ||
    (result === 'none' && proven.some((domain) => organizationOf(domain) === organizationOf(author))));

const RESULTS: ReadonlySet<string> = new Set<AuthenticationResult>([
  'pass',
  'fail',
  'softfail',
  'neutral',
  'none',
  'temperror',
  'permerror',
]);

const isResult = (word: string): word is AuthenticationResult => RESULTS.has(word);

/**
 * `policy` is a valid signature that this service does not accept, such as one with a short key, or of a part
 * of the body.
 */
const resultOf = (word: string): AuthenticationResult =>
  isResult(word) ? word : word === 'temperr' ? 'temperror' : word === 'policy' ? 'fail' : 'neutral';

const ORDER: readonly AuthenticationResult[] = [
  'pass',
  'temperror',
  'fail',
  'permerror',
  'neutral',
  'softfail',
  'none',
];

const dkimResult = (words: readonly string[]): AuthenticationResult => {
  const results = words.map(resultOf);
  return ORDER.find((result) => results.includes(result)) ?? 'none';
};

const policyOf = (word: string): 'none' | 'quarantine' | 'reject' | null =>
  word === 'none' || word === 'quarantine' || word === 'reject' ? word : null;
