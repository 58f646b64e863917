import type { Signer } from '../../../platform/crypto/signer.ts';
import { ID_ALPHABET } from '../../../platform/db/ids.ts';

/** One recipient of one email: `recipient` is the index over to, cc and bcc. */
export interface Destination {
  readonly emailId: string;
  readonly recipient: number;
}

// Base32 with the alphabet of ids: it survives a change of case, and the token fits the 64 octets of a local part (RFC 5321 4.5.3.1.1).

/** 80 bits, which can only be guessed by sending mail. */
const MAC_BYTES = 10;
const TOKEN = new RegExp(`^([${ID_ALPHABET}]{24})\\.(\\d{1,2})\\.([${ID_ALPHABET}]{16})$`);
const PURPOSE = 'return path';

/** The VERP token of a copy: it tells a bounce's email and recipient, and only this service can sign it. */
export function returnToken({ emailId, recipient }: Destination, signer: Signer): string {
  const named = `${emailId.slice(3)}.${recipient}`;
  return `${named}.${base32(signer.sign(PURPOSE, named, MAC_BYTES))}`;
}

/** The copy that a token names; null unless it was signed here. */
export function readReturnToken(token: string, signer: Signer): Destination | null {
  const [, id = '', recipient = '', mac] = TOKEN.exec(token.toLowerCase()) ?? [];
  if (mac === undefined || !signer.proves(fromBase32(mac), PURPOSE, `${id}.${recipient}`)) return null;
  return { emailId: `em_${id}`, recipient: Number(recipient) };
}

/** True when the token was signed here. */
export const isReturnToken = (token: string, signer: Signer): boolean =>
  readReturnToken(token, signer) !== null;

function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += ID_ALPHABET[(held >> (bits - 5)) & 31];
    held &= (1 << bits) - 1;
  }
  return text;
}

function fromBase32(text: string): Uint8Array {
  const bytes = [];
  let bits = 0;
  let held = 0;
  for (const digit of text) {
    held = (held << 5) | ID_ALPHABET.indexOf(digit);
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push(held >> bits);
    held &= (1 << bits) - 1;
  }
  return Uint8Array.from(bytes);
}
