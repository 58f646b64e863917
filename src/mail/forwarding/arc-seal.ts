/**
 * Seals a forwarded message with ARC (RFC 8617), so that its receiver can trust the results that were seen
 * here.
 */
import { foldLines } from 'nodemailer/lib/mime-funcs';
import { type RawField, readMessage, relaxedField, relaxedHash } from '../dkim/canonical.ts';
import { folded, inThisThread } from '../dkim/sign.ts';
import type { SigningKey } from '../dkim/signing-key.ts';
import type { ArcChain } from '../raw/raw-mail.ts';

/** The facts that a seal states. */
export interface ArcFacts {
  /**
   * The results of the checks at arrival, in the form of Authentication-Results without the name of the
   * field.
   */
  readonly results: string;
  readonly chain: ArcChain;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** RFC 8617 4.2.1: a chain has at most 50 sets. */
const MOST_SETS = 50;

/**
 * The fields that the signature covers when present. RFC 8617 4.1.2 leaves out those of ARC and
 * Authentication-Results.
 */
const COVERED = new Set([
  'from',
  'to',
  'cc',
  'subject',
  'date',
  'message-id',
  'reply-to',
  'in-reply-to',
  'references',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
  'dkim-signature',
  'list-id',
  'list-unsubscribe',
  'list-unsubscribe-post',
  'auto-submitted',
]);

/** Octets of a field of ARC: real ones have one or two thousand, and a stranger chooses them. */
const LONGEST_FIELD = 8_192;

const SET = ['arc-authentication-results', 'arc-message-signature', 'arc-seal'] as const;

/**
 * The three fields to put before a message; empty where it cannot be sealed: without a key of RSA, which RFC
 * 8617 knows alone, behind a chain that has ended, or where the sets do not match the state of the chain.
 */
export function arcSet(message: Buffer, keys: readonly SigningKey[], facts: ArcFacts): Buffer {
  const key = keys.find(({ algorithm }) => algorithm === 'rsa-sha256');
  if (!key) return NOTHING;
  const { fields, body } = readMessage({ composed: message });
  const sets = setsOf(fields);
  if (sets === null || sets.length >= MOST_SETS) return NOTHING;
  if ((sets.length === 0) !== (facts.chain === 'none')) return NOTHING;
  // RFC 8617 5.1: a chain whose last seal says that it failed has ended.
  const last = sets.at(-1)?.[2];
  if (last && tagOf(last, 'cv')?.toLowerCase() === 'fail') return NOTHING;
  const instance = sets.length + 1;
  const seconds = Math.floor(facts.at / 1000);
  const results = rawOf('ARC-Authentication-Results', `i=${instance}; ${facts.results}`);
  const covered = fields.filter(({ name }) => COVERED.has(name)).reverse();
  const hash = relaxedHash(body);
  const signature = signed(
    key,
    'ARC-Message-Signature',
    [
      `i=${instance}; a=rsa-sha256; c=relaxed/relaxed; d=${key.domain}; s=${key.selector}; t=${seconds}`,
      `h=${folded(covered.map(({ name }) => name).join(':'), ':')}`,
      `bh=${hash}`,
    ],
    covered,
  );
  // RFC 8617 5.1.1 and 5.1.2: the sets in their order, each as results, signature and seal; of a chain that
  // failed the own one alone.
  const before = facts.chain === 'fail' ? [] : sets.flat();
  const seal = signed(
    key,
    'ARC-Seal',
    [`i=${instance}; a=rsa-sha256; t=${seconds}; cv=${facts.chain}`, `d=${key.domain}; s=${key.selector}`],
    [...before, results, signature],
  );
  return Buffer.from(`${seal.raw}\r\n${signature.raw}\r\n${results.raw}\r\n`, 'latin1');
}

const NOTHING = Buffer.alloc(0);

/** The value of the first tag of that name (RFC 6376 3.2). Its time grows with the field alone. */
function tagOf({ raw }: RawField, name: string): string | null {
  for (const part of raw.slice(raw.indexOf(':') + 1).split(';')) {
    const at = part.indexOf('=');
    if (at !== -1 && part.slice(0, at).trim().toLowerCase() === name) return part.slice(at + 1).trim();
  }
  return null;
}

/**
 * The sets of a message by their instance, each in the order of `SET`; null where one is missing or there
 * twice.
 */
function setsOf(fields: readonly RawField[]): readonly (readonly RawField[])[] | null {
  const found = new Map<string, RawField>();
  for (const field of fields) {
    if (!(SET as readonly string[]).includes(field.name)) continue;
    if (field.raw.length > LONGEST_FIELD || found.size >= MOST_SETS * SET.length) return null;
    const instance = tagOf(field, 'i');
    const key = `${field.name} ${Number(instance)}`;
    if (instance === null || !/^\d{1,4}$/.test(instance) || found.has(key)) return null;
    found.set(key, field);
  }
  const sets: (readonly RawField[])[] = [];
  for (let instance = 1; instance <= found.size / SET.length; instance++) {
    const set = SET.flatMap((name) => found.get(`${name} ${instance}`) ?? []);
    if (set.length < SET.length) return null;
    sets.push(set);
  }
  return sets.length * SET.length === found.size ? sets : null;
}

const rawOf = (name: string, value: string): RawField => ({
  name: name.toLowerCase(),
  raw: foldLines(`${name}: ${value}`, 76),
});

/** A field with its signature over the covered fields and itself (RFC 6376 3.7). */
function signed(
  key: SigningKey,
  name: string,
  tags: readonly string[],
  covered: readonly RawField[],
): RawField {
  const field = `${name}: ${tags.join(';\r\n ')};\r\n b=`;
  const own = relaxedField({ name: name.toLowerCase(), raw: field });
  const text = covered.map((one) => `${relaxedField(one)}\r\n`).join('') + own;
  const value = inThisThread(key, Buffer.from(text, 'latin1')) as Buffer;
  return {
    name: name.toLowerCase(),
    raw: `${field}${value.toString('base64').replace(/.{72}(?!$)/g, '$&\r\n ')}`,
  };
}
