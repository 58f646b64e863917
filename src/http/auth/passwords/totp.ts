import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

// Codes that change every thirty seconds (RFC 6238 over RFC 4226), in the form that every authenticator
// accepts: SHA-1, six digits.

const STEP_MS = 30_000;
const SECRET_BYTES = 20;
/** Clocks of phones differ, so the codes before and after are accepted as well (RFC 6238, 5.2). */
const DRIFT = [0, -1, 1] as const;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** A new secret in base32 (RFC 4648, 6), the form for authenticators. */
export const newTotpSecret = (): string => toBase32(randomBytes(SECRET_BYTES));

/** The address that authenticators read from a QR code. */
export const totpUri = (secret: string, email: string): string =>
  `otpauth://totp/Posthorn:${encodeURIComponent(email)}?secret=${secret}&issuer=Posthorn`;

/** The code of a time step. */
export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  return String((mac.readUInt32BE(offset) & 0x7fff_ffff) % 1_000_000).padStart(6, '0');
}

/** The time step of a code; null when it is wrong, too old, or not later than the last accepted step. */
export const stepOfCode = (secret: string, code: string, now: number, lastStep: number): number | null =>
  stepsOfCode(secret, code, now).find((step) => step > lastStep) ?? null;

/** The time step of a right code that was accepted before; null for any other code. */
export const repeatedStep = (secret: string, code: string, now: number, lastStep: number): number | null =>
  stepsOfCode(secret, code, now).find((step) => step <= lastStep) ?? null;

function stepsOfCode(secret: string, code: string, now: number): readonly number[] {
  if (!/^\d{6}$/.test(code)) return [];
  const present = Math.floor(now / STEP_MS);
  // All codes are computed, so that the time reveals nothing.
  return DRIFT.map((drift) => present + drift).filter((step) =>
    timingSafeEqual(Buffer.from(totpCode(secret, step)), Buffer.from(code)),
  );
}

function toBase32(bytes: Buffer): string {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  return (bits.match(/.{5}/g) ?? []).map((five) => BASE32[Number.parseInt(five, 2)]).join('');
}

function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)));
}
