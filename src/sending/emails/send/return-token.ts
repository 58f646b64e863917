import type { Signer } from '../../../platform/crypto/signer.ts';
import { ID_ALPHABET, timeOfId } from '../../../platform/db/ids.ts';
import { base32, fromBase32 } from '../../../platform/text/base32.ts';
import { DAY_MS } from '../../../platform/time/clock.ts';

/** One recipient of one email: `recipient` is the index over to, cc and bcc. */
export interface Destination {
  readonly emailId: string;
  readonly recipient: number;
}

// Base32 with the alphabet of ids: it survives a change of case, and the token fits the 64 octets of a local
// part (RFC 5321 4.5.3.1.1).

/** 80 bits, which can only be guessed by sending mail. */
const MAC_BYTES = 10;
const TOKEN = new RegExp(
  `^([${ID_ALPHABET}]{24})\\.(\\d{1,2})\\.([${ID_ALPHABET}]{16})(?:\\.([${ID_ALPHABET}]{2}))?$`,
);
const PURPOSE = 'return path';
const FORWARDED = 'return path of a forwarded message';

/** The VERP token of a copy: it tells a bounce's email and recipient, and only this service can sign it. */
export function returnToken({ emailId, recipient }: Destination, signer: Signer): string {
  const named = `${emailId.slice(3)}.${recipient}`;
  return `${named}.${base32(signer.sign(PURPOSE, named, MAC_BYTES))}`;
}

/** The token of a copy of a forwarded message: the same, with the day that it is valid from. */
export function forwardToken({ emailId, recipient }: Destination, signer: Signer): string {
  const named = `${emailId.slice(3)}.${recipient}`;
  const day = dayOf(timeOfId(emailId));
  return `${named}.${base32(signer.sign(FORWARDED, `${named}.${day}`, MAC_BYTES))}.${day}`;
}

/** The copy that a token names; null unless it was signed here. `now` is in epoch milliseconds. */
export function readReturnToken(token: string, signer: Signer, now: number): Destination | null {
  const [, id = '', recipient = '', mac, day] = TOKEN.exec(token.toLowerCase()) ?? [];
  if (mac === undefined) return null;
  const named = `${id}.${recipient}`;
  const [purpose, text] = day === undefined ? [PURPOSE, named] : [FORWARDED, `${named}.${day}`];
  if (!signer.proves(fromBase32(mac), purpose, text)) return null;
  if (day !== undefined && !isValidDay(day, now)) return null;
  return { emailId: `em_${id}`, recipient: Number(recipient) };
}

/** True when the token was signed here. */
export const isReturnToken = (token: string, signer: Signer, now: number): boolean =>
  readReturnToken(token, signer, now) !== null;

/**
 * The days from its acceptance on that a forwarded message can come back: five of attempts here, five of the
 * next server, and more.
 */
const VALID_DAYS = 30;
/** Two letters of base32. */
const DAYS = 1_024;

const dayOf = (at: number): string => {
  const day = Math.floor(at / DAY_MS) % DAYS;
  return `${ID_ALPHABET[day >> 5]}${ID_ALPHABET[day & 31]}`;
};

/** True from the day before on, since the clocks of instances differ. */
function isValidDay(day: string, now: number): boolean {
  const stamped = ID_ALPHABET.indexOf(day[0] ?? '') * 32 + ID_ALPHABET.indexOf(day[1] ?? '');
  const age = (((Math.floor(now / DAY_MS) - stamped) % DAYS) + DAYS) % DAYS;
  return age <= VALID_DAYS || age === DAYS - 1;
}
