import { createHmac, timingSafeEqual } from 'node:crypto';
import { HOTP, Secret } from 'otpauth/bare';

// Codes that change every thirty seconds (RFC 6238 over RFC 4226), in the form that every authenticator
// accepts: SHA-1, six digits, which are the defaults of otpauth (MIT, several releases a year). Its bare
// build leaves the hash to the runtime; the others bring 90 kB of hash functions.

const STEP_MS = 30_000;
const SECRET_BYTES = 20;
/** Clocks of phones differ, so the codes before and after are accepted as well (RFC 6238, 5.2). */
const DRIFT = [0, -1, 1] as const;

/** A new secret in base32 (RFC 4648, 6), the form for authenticators. */
export const newTotpSecret = (): string => new Secret({ size: SECRET_BYTES }).base32;

/** The address that authenticators read from a QR code. */
export const totpUri = (secret: string, email: string): string =>
  `otpauth://totp/Posthorn:${encodeURIComponent(email)}?secret=${secret}&issuer=Posthorn`;

/** The code of a time step. */
export const totpCode = (secret: string, step: number): string =>
  HOTP.generate({ secret: Secret.fromBase32(secret), counter: step, hmac });

const hmac = (algorithm: string, key: Uint8Array, message: Uint8Array): Uint8Array =>
  createHmac(algorithm, key).update(message).digest();

/** The time step of a code; null when it is wrong, too old, or not later than the last accepted step. */
export const stepOfCode = (secret: string, code: string, now: number, lastStep: number): number | null =>
  stepsOfCode(secret, code, now).find((step) => step > lastStep) ?? null;

/** The time step of a right code that was accepted before; null for any other code. */
export const repeatedStep = (secret: string, code: string, now: number, lastStep: number): number | null =>
  stepsOfCode(secret, code, now).find((step) => step <= lastStep) ?? null;

function stepsOfCode(secret: string, code: string, now: number): readonly number[] {
  if (!/^\d{6}$/.test(code)) return [];
  const present = Math.floor(now / STEP_MS);
  // All codes are computed, so that the time reveals nothing. `validate` of otpauth stops at the first match,
  // and names one step where two have the same code.
  return DRIFT.map((drift) => present + drift).filter((step) =>
    timingSafeEqual(Buffer.from(totpCode(secret, step)), Buffer.from(code)),
  );
}
