import { randomBytes } from 'node:crypto';
import type { Purpose } from '../../../platform/crypto/sealed-columns.ts';
import { openOrNull, type Sealer } from '../../../platform/crypto/sealer.ts';

/** Makes a secret: `whsec_` and 32 random bytes. The HMAC key is the whole text. */
export const mintSecret = (): string => `whsec_${randomBytes(32).toString('base64url')}`;

/** The beginning of a secret: enough to tell secrets apart, too little to use one. */
export const secretPrefixOf = (secret: string): string => `${secret.slice(0, 10)}…`;

const purposeOf = (webhookId: string): Purpose => `webhook secret ${webhookId}`;

/** Seals a secret for one endpoint, so that it does not open in the row of another. */
export const sealSecret = (sealer: Sealer, webhookId: string, secret: string): string =>
  sealer.seal(secret, purposeOf(webhookId));

/** Opens a secret; null when it was sealed with another key, or for another endpoint. */
export const openSecret = (sealer: Sealer, webhookId: string, sealed: string): string | null =>
  openOrNull(sealer, sealed, purposeOf(webhookId));
