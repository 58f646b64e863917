/**
 * DKIM signatures (RFC 6376; Ed25519 by RFC 8463), made here and not by nodemailer: it cannot sign Ed25519,
 * sends unsigned when a key is bad, and leaves List-Unsubscribe-Post out of h=, which RFC 8058 wants signed
 * (all measured).
 */
import { createHash, sign } from 'node:crypto';
import { type MessageOctets, type RawField, readMessage, relaxedField, relaxedHash } from './canonical.ts';
import type { SigningKey } from './signing-key.ts';

/**
 * The message with one DKIM-Signature per key on top. `at` is epoch ms and becomes `t=`. Rejects when a key
 * cannot sign: it never returns a message with fewer signatures than keys.
 */
export const signMessage = async (
  message: Buffer,
  keys: readonly SigningKey[],
  at: number,
): Promise<Buffer> =>
  keys.length === 0 ? message : Buffer.concat([await signaturesOf({ composed: message }, keys, at), message]);

export type SignWith = (key: SigningKey, data: Buffer) => Promise<Buffer> | Buffer;

/** The fields to put before a message: one DKIM-Signature per key. */
export const signaturesOf = (
  message: MessageOctets,
  keys: readonly SigningKey[],
  at: number,
  signWith: SignWith = quickly,
): Promise<Buffer> => {
  const { fields, body } = readMessage(message);
  return signaturesOver(fields, relaxedHash(body), keys, at, signWith);
};

/**
 * The same where the body is known as signatures cover it: in ASCII, with relaxed white space, and one line
 * end at its end.
 */
export const signaturesOfHead = (
  head: Buffer,
  relaxed: Buffer,
  keys: readonly SigningKey[],
  at: number,
  signWith: SignWith,
): Promise<Buffer> =>
  signaturesOver(
    readMessage({ composed: head }).fields,
    createHash('sha256').update(relaxed).digest('base64'),
    keys,
    at,
    signWith,
  );

const signaturesOver = async (
  fields: readonly RawField[],
  bodyHash: string,
  keys: readonly SigningKey[],
  at: number,
  signWith: SignWith,
): Promise<Buffer> => {
  const covered = coveredFields(fields);
  const canonical = covered.map((field) => `${relaxedField(field)}\r\n`).join('');
  const names = [...covered.map(({ name }) => name), ...OVERSIGNED].join(':');
  const signable = { at, bodyHash, canonical, names };
  return Buffer.concat(await Promise.all(keys.map((key) => signature(key, signable, signWith))));
};

/** The fields that are signed when present: all that a reader sees or that a mail program acts on. */
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
  'list-unsubscribe',
  'list-unsubscribe-post',
  'list-id',
  'precedence',
  'feedback-id',
]);

// RFC 6376 8.15: a name listed once more than it occurs makes a second such field, added on the way, break
// the signature. Only From is listed so: mailing lists and gateways add the others in good faith.
const OVERSIGNED = ['from'];

// RFC 6376 5.4.2: of several fields of one name, h= takes the last first.
const coveredFields = (fields: readonly RawField[]): RawField[] =>
  fields.filter(({ name }) => COVERED.has(name)).reverse();

interface SignatureInput {
  readonly at: number;
  readonly bodyHash: string;
  readonly canonical: string;
  readonly names: string;
}

const signature = async (
  key: SigningKey,
  { at, bodyHash, canonical, names }: SignatureInput,
  signWith: SignWith,
): Promise<Buffer> => {
  const tags = [
    `v=1; a=${key.algorithm}; c=relaxed/relaxed`,
    `d=${key.domain}; s=${key.selector}; t=${Math.floor(at / 1000)}`,
    `h=${folded(names, ':')}`,
    `bh=${bodyHash}`,
    'b=',
  ];
  const field = `DKIM-Signature: ${tags.join(';\r\n ')}`;
  const covered = Buffer.from(canonical + relaxedField({ name: 'dkim-signature', raw: field }), 'latin1');
  const value = (await signWith(key, covered)).toString('base64');
  return Buffer.from(`${field}${value.replace(/.{72}(?!$)/g, '$&\r\n ')}\r\n`, 'latin1');
};

// RFC 8463 3: Ed25519 signs the SHA-256 of the data, as if that hash were the message.
const signed = ({ algorithm }: SigningKey, data: Buffer): readonly [digest: string | null, data: Buffer] =>
  algorithm === 'ed25519-sha256' ? [null, createHash('sha256').update(data).digest()] : ['sha256', data];

/**
 * The runtime's thread pool signs, so that two cores sign nearly twice as fast as one and the event loop
 * stays free.
 */
export const inThreadPool: SignWith = (key, data) =>
  new Promise((resolve, reject) => {
    const done = (error: Error | null, value: Buffer) => (error ? reject(error) : resolve(value));
    sign(...signed(key, data), key.privateKey, done);
  });

/** Signs in the thread that calls it. */
export const inThisThread: SignWith = (key, data) => sign(...signed(key, data), key.privateKey);

/** Ed25519 takes 15 µs, and giving it to another thread takes the calling one 20. */
const quickly: SignWith = (key, data) =>
  key.algorithm === 'ed25519-sha256'
    ? inThisThread(key, data)
    : (key.signWith?.(data) ?? inThreadPool(key, data));

// Folds between list members: a fold inside a name would be white space in the wrong place.
export const folded = (list: string, separator: string): string => {
  const lines: string[] = [];
  let line = '';
  for (const member of list.split(separator)) {
    const next = line === '' ? member : `${line}${separator}${member}`;
    if (next.length <= 70) line = next;
    else {
      lines.push(`${line}${separator}`);
      line = member;
    }
  }
  return [...lines, line].join('\r\n ');
};
