import { expect, test } from 'bun:test';
import { createSealer, SealedWithAnotherKey, sealerOf } from '../../src/platform/crypto/sealer.ts';
import { type Keys, onlyKey, secretKeyOf } from '../../src/platform/crypto/secret-key.ts';
import { createSigner, signerOf } from '../../src/platform/crypto/signer.ts';

const OLD = 'the-key-of-before-the-key-of-before-it';
const NEW = 'the-key-of-now-the-key-of-now-and-after';
const turned: Keys = {
  ...onlyKey(NEW),
  others: [secretKeyOf(OLD)],
  first: secretKeyOf(OLD),
  named: true,
};
const both = sealerOf(() => turned);

test('a sealed text opens for its purpose alone, and one that is not sealed is itself', () => {
  const sealed = createSealer(OLD).seal('text', 'totp secret');
  expect(createSealer(OLD).open(sealed, 'totp secret')).toBe('text');
  expect(() => createSealer(OLD).open(sealed, 'idempotent reply')).toThrow(SealedWithAnotherKey);
  expect(() => createSealer(NEW).open(sealed, 'totp secret')).toThrow(SealedWithAnotherKey);
  expect(createSealer(NEW).open('{"not":"sealed"}', 'idempotent reply')).toBe('{"not":"sealed"}');
});

test('after a rotation a text names its key, and those of every key before are opened still', () => {
  const sealed = both.seal('text', 'totp secret');
  expect(sealed).toStartWith(`sealed:2:${secretKeyOf(NEW).id}:`);
  expect([both, createSealer(NEW)].map((sealer) => sealer.open(sealed, 'totp secret'))).toEqual([
    'text',
    'text',
  ]);
  expect(() => createSealer(OLD).open(sealed, 'totp secret')).toThrow(SealedWithAnotherKey);
  expect(both.open(createSealer(OLD).seal('text', 'totp secret'), 'totp secret')).toBe('text');
});

test('what was cut off, changed, or sealed in a form of later is not taken for clear text', () => {
  const sealed = both.seal('text', 'totp secret');
  const broken = [
    'sealed:1:',
    'sealed:2:',
    'sealed:2:abc',
    'sealed:3:abc:def',
    'sealed:',
    sealed.slice(0, -1),
  ];
  for (const text of [...broken, sealed.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')).slice(0, 60)])
    expect(() => both.open(text, 'totp secret')).toThrow(SealedWithAnotherKey);
});

test('a signature of a key before proves until that key is revoked; a hash stays the same', () => {
  const old = createSigner(OLD);
  const mac = old.sign('link', 'text');
  const revoked = signerOf(() => ({ ...turned, revoked: new Set([secretKeyOf(OLD).id]) }));
  const signer = signerOf(() => turned);
  expect([signer, revoked, createSigner(NEW)].map((one) => one.proves(mac, 'link', 'text'))).toEqual([
    true,
    false,
    false,
  ]);
  expect(revoked.proves(signer.sign('link', 'text'), 'link', 'text')).toBeTrue();
  expect(signer.proves(mac, 'link', 'another')).toBeFalse();
  expect(signer.hash('forgotten', 'a')).toEqual(old.hash('forgotten', 'a'));
});
