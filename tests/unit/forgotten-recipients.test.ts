import { expect, test } from 'bun:test';
import { onlyKey, secretKeyOf } from '../../src/platform/crypto/secret-key.ts';
import { createSigner, signerOf } from '../../src/platform/crypto/signer.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { lowestIdAt, mintId } from '../../src/platform/db/ids.ts';
import { isForgotten } from '../../src/platform/text/forgotten.ts';
import {
  findKnownAgain,
  forgottenHash,
  forgottenKey,
  forgottenRecipient,
} from '../../src/sending/suppressions/queries.ts';

const OLD = 'the-first-key-the-first-key-the-first-key';
const signer = createSigner(OLD);
const hash = forgottenKey(signer, 'ws_1', 'ada@example.com');
const place = { emailId: 'em_1', recipient: 0 };
const key = forgottenRecipient(signer, place, hash);

test('the key of a forgotten recipient has the form of an address, and gives the hash back in its place alone', () => {
  expect(isForgotten(key)).toBe(true);
  expect(forgottenHash(signer, place, key)).toBe(hash);
  expect(forgottenHash(signer, { emailId: 'em_2', recipient: 0 }, key)).toBeNull();
  expect(forgottenHash(signer, { emailId: 'em_1', recipient: 1 }, key)).toBeNull();
});

test('no two emails have the same key for a person, and none contains the hash', () => {
  const other = forgottenRecipient(signer, { emailId: 'em_2', recipient: 0 }, hash);
  expect(other).not.toBe(key);
  const digest = hash.slice('forgotten:'.length);
  for (const one of [key, other]) expect(one).not.toContain(digest.slice(0, 12));
});

test('a rotated SECRET_KEY still reads it, a lost one does not', () => {
  const [first, current] = [secretKeyOf(OLD), secretKeyOf('another-key-another-key-another-key')];
  const rotated = signerOf(() => ({ current, others: [first], revoked: new Set(), first, named: true }));
  expect(forgottenHash(rotated, place, key)).toBe(hash);
  expect(forgottenKey(rotated, 'ws_1', 'ada@example.com')).toBe(hash);
  expect(
    forgottenHash(
      signerOf(() => onlyKey(current.text)),
      place,
      key,
    ),
  ).toBeNull();
});

test('other keys conceal nothing: addresses, and those that earlier versions have written', () => {
  const foreign = [
    'ada@example.com',
    'forgotten-0@forgotten.invalid',
    `${key.slice(0, -1)}x`,
    key.replace('.invalid', '.example'),
    `forgotten-${'a'.repeat(59)}@forgotten.invalid`,
  ];
  for (const one of foreign) expect(forgottenHash(signer, place, one)).toBeNull();
});

test.each([0, 999, 1000, 2499])(
  'the contact that has the hash is found at place %d of 2,500, and no one else',
  async (place) => {
    const AT = 1_796_000_000_000;
    const contacts = Array.from({ length: 2_500 }, (_, n) => {
      const email = `${n === place ? 'ada' : `person-${n}`}@example.com`;
      return { id: mintId('con', AT + n), email, email_key: email };
    }).toSorted((one, other) => (one.id < other.id ? -1 : 1));
    const begins: string[] = [];
    const query = async (_: string, [, after]: readonly string[]) => {
      begins.push(after ?? '');
      return contacts.filter(({ id }) => id > (after ?? '')).slice(0, 1_000);
    };
    const deps = { database: { query } as unknown as Database, signer };
    const person = { workspaceId: 'ws_1', emailId: mintId('em', AT), hash };
    expect(await findKnownAgain(deps, person)).toMatchObject({ email: 'ada@example.com' });
    expect(begins).toHaveLength(Math.floor(place / 1_000) + 1);
    // No contact from long before the email is looked at.
    expect((begins[0] ?? '') > lowestIdAt('con', AT - 3_600_000)).toBe(true);
    expect(await findKnownAgain(deps, { ...person, workspaceId: 'ws_2' })).toBeNull();
  },
);

test('a report that is repeated looks at no contact twice but the latest, and finds a person who comes later', async () => {
  const AT = 1_796_000_000_000;
  const contactAt = (email: string, at: number) => ({ id: mintId('con', at), email, email_key: email });
  const contacts = Array.from({ length: 2_500 }, (_, n) =>
    contactAt(`person-${n}@example.com`, AT + n * 60_000),
  );
  let read = 0;
  const query = async (_: string, [, after]: readonly string[]) => {
    const page = contacts.filter(({ id }) => id > (after ?? '')).slice(0, 1_000);
    read += page.length;
    return page;
  };
  const deps = { database: { query } as unknown as Database, signer };
  const person = { workspaceId: 'ws_1', emailId: mintId('em', AT), hash };
  expect(await findKnownAgain(deps, person)).toBeNull();
  expect(read).toBe(2_500);
  for (let times = 0; times < 10; times++) expect(await findKnownAgain(deps, person)).toBeNull();
  expect(read).toBeLessThan(2_530);
  // By the clock of another instance, which is behind.
  contacts.push(contactAt('ada@example.com', AT + 2_499 * 60_000 - 59_000));
  contacts.sort((one, other) => (one.id < other.id ? -1 : 1));
  for (let times = 0; times < 2; times++)
    expect(await findKnownAgain(deps, person)).toMatchObject({ email: 'ada@example.com' });
});
