import { ID_ALPHABET } from '../db/ids.ts';

/**
 * Writes octets with the alphabet of ids, which survives a change of case: five bits a character. Whole fives
 * of octets have no bits left over.
 */
export function base32(bytes: Uint8Array): string {
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

/** The octets of such a text; bits behind the last whole octet are left out. */
export function fromBase32(text: string): Uint8Array {
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
