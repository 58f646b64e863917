import type { Hasher } from '../../src/http/auth/passwords/passwords.ts';

/** Hashing as the service does it, for tests of the hashing itself. */
export const usualHasher: Hasher = {
  hash: Bun.password.hash.bind(Bun.password),
  verify: Bun.password.verify.bind(Bun.password),
};

/**
 * Has this process hash passwords for half a millisecond instead of 80: every test that signs a person in
 * would otherwise guard an account that no one has, 45 s of a run's processor time. What is stored says how
 * it was made, so that verifying takes as long.
 */
export function hashBriefly(): void {
  Object.assign(Bun.password, {
    hash: (password: string, parameters: Bun.Password.Argon2Algorithm) =>
      usualHasher.hash(password, { ...parameters, memoryCost: 8, timeCost: 1 }),
  });
}
