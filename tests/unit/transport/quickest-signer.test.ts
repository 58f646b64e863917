import { afterAll, describe, expect, test } from 'bun:test';
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
} from 'node:crypto';
import {
  isSound,
  type LibraryKey,
  libraryPath,
  openLibcrypto,
  type SigningLibrary,
} from '../../../src/mail/dkim/libcrypto.ts';
import { QuickestSigner } from '../../../src/mail/dkim/quickest-signer.ts';
import { inThisThread } from '../../../src/mail/dkim/sign.ts';
import type { SigningKey } from '../../../src/mail/dkim/signing-key.ts';

const aKey = (modulusLength: number): SigningKey => ({
  domain: 'sender.example',
  selector: 's',
  algorithm: 'rsa-sha256',
  privateKey: generateKeyPairSync('rsa', { modulusLength }).privateKey,
});
const key = aKey(2_048);
const data = Buffer.from('from:a@sender.example\r\n');
const TRIAL = Buffer.from('posthorn');
const TRIAL_DIGEST = createHash('sha256').update(TRIAL).digest();

/**
 * A clock by which the first thing that is timed, and each second one, takes so much longer than the other.
 */
const clockOf = (bunMs: number, libraryMs: number) => {
  const steps = [0, bunMs, 0, libraryMs];
  let [at, asked] = [0, 0];
  return () => {
    at += steps[asked++ % steps.length] ?? 0;
    return at;
  };
};

/** A library that signs as Bun does, and counts the keys that are open. */
const aLibrary = (answer: (signature: Buffer) => Buffer | null = (signature) => signature) => {
  const library = { open: 0, signed: 0 };
  const asLibrary: SigningLibrary = {
    name: 'a library',
    open(der): LibraryKey {
      const opened = { key: Buffer.from(der), format: 'der', type: 'pkcs1' } as const;
      library.open++;
      return {
        sign(digest) {
          library.signed++;
          const isTrial = digest.equals(TRIAL_DIGEST);
          return answer(sign('sha256', isTrial ? TRIAL : data, opened));
        },
        free: () => library.open--,
      };
    },
  };
  return { library, asLibrary };
};

test('the library signs where it is quicker, with the octets that Bun signs with', () => {
  const { library, asLibrary } = aLibrary();
  const signer = new QuickestSigner({ library: asLibrary, now: clockOf(5, 4) });
  expect(signer.sign(key, data)).toEqual(inThisThread(key, data));
  expect([signer.library, library.open]).toEqual(['a library', 1]);
  signer.close();
  expect(library.open).toBe(0);
});

test('a library that is no quicker by a quarter is left alone, and no key stays open in it', () => {
  const { library, asLibrary } = aLibrary();
  const signer = new QuickestSigner({ library: asLibrary, now: clockOf(4.9, 4) });
  for (let turn = 0; turn < 3; turn++) expect(signer.sign(key, data)).toEqual(inThisThread(key, data));
  // A trial of the octets, and five of the time.
  expect([signer.library, library.open, library.signed]).toEqual([null, 0, 6]);
});

for (const [what, answer] of [
  ['another signature', () => Buffer.alloc(256, 1)],
  ['a short one', (signature: Buffer) => signature.subarray(1)],
  ['none', () => null],
] as const)
  test(`a library that answers ${what} to the trial signs nothing`, () => {
    const { library, asLibrary } = aLibrary(answer);
    const signer = new QuickestSigner({ library: asLibrary, leastGain: 0 });
    for (let turn = 0; turn < 2; turn++) expect(signer.sign(key, data)).toEqual(inThisThread(key, data));
    expect([signer.library, library.open, library.signed]).toEqual([null, 0, 1]);
  });

test('a library that fails later is given up, and Bun signs', () => {
  let fails = false;
  const { library, asLibrary } = aLibrary((signature) => (fails ? null : signature));
  const signer = new QuickestSigner({ library: asLibrary, leastGain: 0 });
  void signer.sign(key, data);
  fails = true;
  for (let turn = 0; turn < 2; turn++) expect(signer.sign(key, data)).toEqual(inThisThread(key, data));
  expect([signer.library, library.open, library.signed]).toEqual([null, 0, 8]);
});

test('Bun signs with Ed25519, with short keys and where there is no library', () => {
  const { library, asLibrary } = aLibrary();
  const signer = new QuickestSigner({ library: asLibrary, leastGain: 0 });
  const short = aKey(1_024);
  const ed: SigningKey = {
    domain: 'sender.example',
    selector: 's',
    algorithm: 'ed25519-sha256',
    privateKey: generateKeyPairSync('ed25519').privateKey,
  };
  for (const one of [short, ed]) expect(signer.sign(one, data)).toEqual(inThisThread(one, data));
  expect(library).toEqual({ open: 0, signed: 0 });
  expect(new QuickestSigner({ library: null }).sign(key, data)).toEqual(inThisThread(key, data));
});

const pem = key.privateKey.export({ type: 'pkcs8', format: 'pem' });
const keysOf = (length: number) =>
  Array.from({ length }, () => ({ ...key, privateKey: createPrivateKey(pem) }));

test('nine keys in turn are opened and tried once each', () => {
  const { library, asLibrary } = aLibrary();
  let opened = 0;
  const counting: SigningLibrary = {
    name: asLibrary.name,
    open: (der) => {
      opened++;
      return asLibrary.open(der);
    },
  };
  const signer = new QuickestSigner({ library: counting, leastGain: 0 });
  const keys = keysOf(9);
  for (let turn = 0; turn < 3; turn++) for (const one of keys) void signer.sign(one, data);
  // Each has a trial of its octets, and the first one five of the time.
  expect([opened, library.open, library.signed]).toEqual([9, 9, 5 + 9 + 3 * 9]);
  signer.close();
  expect(library.open).toBe(0);
});

test('of too many keys the one that was used longest ago is closed, and is not tried again', () => {
  const { library, asLibrary } = aLibrary();
  const signer = new QuickestSigner({ library: asLibrary, leastGain: 0, mostOpen: 2 });
  const [first, second, third] = keysOf(3);
  const signed = [first, second, first, third, first, second].map((one) => {
    const before = library.signed;
    void signer.sign(one as SigningKey, data);
    expect(library.open).toBeLessThanOrEqual(2);
    return library.signed - before;
  });
  expect(signed).toEqual([7, 2, 1, 2, 1, 1]);
  signer.close();
  expect(library.open).toBe(0);
});

test('OpenSSL 3 is used, except for the version that corrupts memory', () => {
  const versions = [
    [1, 1, 1],
    [3, 0, 0],
    [3, 0, 4],
    [3, 0, 5],
    [3, 4, 4],
    [3, 5, 4],
    [4, 0, 0],
  ] as const;
  expect(
    versions
      .filter(([major, minor, patch]) => isSound(major, minor, patch))
      .map((version) => version.join('.')),
  ).toEqual(['3.0.0', '3.0.5', '3.4.4', '3.5.4']);
});

describe('the OpenSSL of this machine', () => {
  const library = openLibcrypto();
  if (library === null) console.info('This machine has no OpenSSL 3, so that it is not tried.');
  const signer = new QuickestSigner({ library, leastGain: 0 });
  afterAll(() => signer.close());

  for (const bits of [2_048, 2_304])
    test(`signs with ${bits} bits as Bun does`, () => {
      const one = aKey(bits);
      for (let turn = 0; turn < 20; turn++) {
        const text = Buffer.from('x'.repeat(turn * 37));
        const signature = signer.sign(one, text) as Buffer;
        expect(signature).toEqual(inThisThread(one, text) as Buffer);
        expect(verify('sha256', text, createPublicKey(one.privateKey), signature)).toBe(true);
      }
      expect(signer.library).toBe(library?.name ?? null);
    });

  test('refuses what is no key, and signs on', () => {
    expect(library?.open(Buffer.from('no key')) ?? null).toBeNull();
    const der = key.privateKey.export({ type: 'pkcs1', format: 'der' });
    expect(library?.open(der.subarray(0, -9)) ?? null).toBeNull();
    expect(signer.sign(key, data)).toEqual(inThisThread(key, data));
  });
});

test('the library is taken from the folders of the system alone', () => {
  const asked: string[] = [];
  expect(libraryPath((path) => asked.push(path) < 0)).toBeNull();
  expect(asked.length).toBeGreaterThan(0);
  for (const path of asked) expect(path).toMatch(/^\/usr\/lib[\w/-]*\/libcrypto\.so\.3$/);
});
