import { expect, test } from 'bun:test';
import { isCommonPassword } from '../../../src/http/auth/passwords/common-passwords.ts';
import packed from '../../../src/http/auth/passwords/common-passwords.txt' with { type: 'text' };
import { type Hasher, Passwords, problemOfPassword } from '../../../src/http/auth/passwords/passwords.ts';
import { usualHasher } from '../../support/brief-hashing.ts';

test('an unknown account costs the same work as a known one: one hash of the same kind is verified', async () => {
  const verified: string[] = [];
  let hashes = 0;
  const hasher: Hasher = {
    hash: (...of) => {
      hashes += 1;
      return usualHasher.hash(...of);
    },
    verify: (password, hash) => {
      verified.push(String(hash).split('$').slice(0, 4).join('$'));
      return usualHasher.verify(password, hash);
    },
  };
  const passwords = new Passwords(hasher);
  // The first one after a start as well: nothing is hashed for it.
  expect(await passwords.verify('wrong horse battery', null)).toBe(false);
  expect(hashes).toBe(0);
  const known = await passwords.hash('correct horse battery');
  expect(await passwords.verify('correct horse battery', known)).toBe(true);
  expect(await passwords.verify('wrong horse battery', known)).toBe(false);
  expect(await passwords.verify('wrong horse battery', null)).toBe(false);
  expect(hashes).toBe(1);
  expect(verified).toHaveLength(4);
  expect(new Set(verified).size).toBe(1);
});

test('the hash is argon2id with the parameters that OWASP advises, and of characters, not of their spelling', async () => {
  const passwords = new Passwords(usualHasher);
  const hash = await passwords.hash('caf\u00e9 au lait noir');
  expect(hash).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$');
  expect(await passwords.verify('cafe\u0301 au lait noir', hash)).toBe(true);
});

test('at most two are computed at once, and a wait that would be too long is refused with the time to retry', async () => {
  const waiting: (() => void)[] = [];
  let [running, most] = [0, 0];
  const hasher = {
    hash: () => Promise.resolve('nobody'),
    verify: () => {
      most = Math.max(most, ++running);
      return new Promise<boolean>((resolve) => {
        waiting.push(() => {
          running--;
          resolve(true);
        });
      });
    },
  } as unknown as Hasher;
  const passwords = new Passwords(hasher);
  const asked = Promise.allSettled(Array.from({ length: 60 }, () => passwords.verify('a', 'b')));
  for (let released = 0; released < 52; ) {
    await Promise.resolve();
    for (const release of waiting.splice(0)) {
      release();
      released++;
    }
  }
  const settled = await asked;
  expect(most).toBe(2);
  expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(8);
});

test('twelve to 128 characters of any kind, but nothing that everybody guesses', () => {
  const known = ['ada@acme.example', 'Ada Lovelace'];
  for (const good of ['correct horse', 'ünïcödé wörds', '🐎🐴🦄🐕🐈🐁🐇🐿🦔🦇🐻🐨', 'ab1! '.repeat(25)])
    expect([good, problemOfPassword(good, known)]).toEqual([good, null]);
  for (const [bad, says] of [
    ['elevenchars', 'at least 12'],
    [`${'ab1! '.repeat(25)}abcd`, 'at most 128'],
    ['abababababab', 'four different'],
    ['123456789012', 'a sequence'],
    ['abcdefghijklm', 'a sequence'],
    ['passwordpassword', 'common words'],
    ['1qaz2wsx3edc', 'stolen'],
    ['Q1W2E3R4T5Y6', 'stolen'],
    ['unbelievable', 'stolen'],
    ['Ada Lovelace1', 'common words'],
    ['ada@acme.example!', 'common words'],
  ] as const)
    expect([bad, problemOfPassword(bad, known)]).toEqual([bad, expect.stringContaining(says)]);
});

test('the common ones are 20,000 of at least twelve characters, and others are hardly ever taken for them', () => {
  const octets = Buffer.from(packed, 'base64');
  const keys = Array.from({ length: octets.length / 4 }, (_, at) => octets.readUInt32BE(at * 4));
  expect(keys.length).toBeGreaterThan(19_990);
  expect(keys).toEqual(keys.toSorted((a, b) => a - b));
  for (const common of ['1qaz2wsx3edc4rfv', 'leavemealone', 'sonyericsson', 'Finalfantasy'])
    expect([common, isCommonPassword(common)]).toEqual([common, true]);
  // Each of these is taken for one once in 200,000: of twenty thousand one would be odd, and three not by
  // chance.
  const taken = Array.from({ length: 20_000 }, (_, n) => `a good password ${n}`).filter(isCommonPassword);
  expect(taken.length).toBeLessThan(3);
});
