import { createHash } from 'node:crypto';

/** A key, and what is derived of it. */
export interface SecretKey {
  readonly text: string;
  /** The name of the key in the texts that are sealed with it. It reveals nothing of the key. */
  readonly id: string;
  /** Encrypts. */
  readonly seal: Buffer;
  readonly sign: Buffer;
}

const derived = (purpose: string, text: string): Buffer =>
  createHash('sha256').update(`posthorn ${purpose}\n`).update(text).digest();

/** Derives what a key is used with. */
export const secretKeyOf = (text: string): SecretKey => ({
  text,
  id: derived('key id', text).toString('hex', 0, 8),
  seal: derived('seal', text),
  sign: derived('sign', text),
});

export interface Keys {
  /** The one that seals and signs. */
  readonly current: SecretKey;
  /** Those that open and prove as well: earlier ones, and one that a rotation is about to begin with. */
  readonly others: readonly SecretKey[];
  /** Ids of earlier keys whose signatures prove nothing any more. */
  readonly revoked: ReadonlySet<string>;
  /** The key that the database was first used with. */
  readonly first: SecretKey;
  /**
   * True once a rotation took place: from then on sealed texts name their key. Versions before cannot read
   * such texts.
   */
  readonly named: boolean;
}

/** A key without others. */
export function onlyKey(text: string): Keys {
  const current = secretKeyOf(text);
  return { current, others: [], revoked: new Set(), first: current, named: false };
}
