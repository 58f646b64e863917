import { mock } from 'bun:test';
import type { DkimKeyPair } from '../../src/mail/dkim/key-pair.ts';
import * as keyPair from '../../src/mail/dkim/key-pair.ts';

/** More than the domains of any test whose keys have to differ. */
const MOST = 8;
const { generateDkimKey } = keyPair;

/**
 * Has this process make a few RSA keys, and give them to its domains in turns: one takes 70 ms of processor
 * time, and nearly every test that sends live mail adds a domain.
 */
export async function reuseKeys(): Promise<void> {
  const made: Promise<DkimKeyPair>[] = [];
  let asked = 0;
  const reused: typeof generateDkimKey = (algorithm) => {
    if (algorithm !== 'rsa-sha256') return generateDkimKey(algorithm);
    const turn = asked++ % MOST;
    made[turn] ??= generateDkimKey(algorithm);
    return made[turn];
  };
  await mock.module('../../src/mail/dkim/key-pair.ts', () => ({ ...keyPair, generateDkimKey: reused }));
}
