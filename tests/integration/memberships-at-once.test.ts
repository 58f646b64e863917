import { afterAll, beforeAll, expect, test } from 'bun:test';
import postgres from 'postgres';
import { joinAudience, leaveAudience } from '../../src/audience/audiences/commands.ts';
import { forgetContact } from '../../src/audience/contacts/forgetting/forget.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { type ImportClient, importClient } from '../contract/import-client.ts';
import { type RealService, startRealService } from '../contract/real-service.ts';
import { eventually } from '../support/eventually.ts';
import { LOCK_WAITS } from '../support/lock-waits.ts';
import { createTestDatabase } from '../support/postgres.ts';

// Two connections of one PostgreSQL: a contact leaves an audience while something else lets it in, or forgets
// it. Whichever begins first, who has left by an own act is out at the end.

let made: Awaited<ReturnType<typeof createTestDatabase>>;
let service: RealService;
let other: postgres.Sql;
let key: string;
let client: ImportClient;
let audienceId: string;

beforeAll(async () => {
  made = await createTestDatabase();
  service = await startRealService({ DATABASE_URL: made.url });
  other = postgres(made.url, { max: 1 });
  key = await service.keyWith('live', ['*']);
  client = importClient(service, key);
  audienceId = (await send('POST', '/v1/audiences', { name: 'Readers' })).body.data.id;
});
afterAll(async () => {
  await other.end();
  await service[Symbol.asyncDispose]();
  await made.close();
});

const send = (method: string, path: string, body: object) => service.ask({ method, path, key, body });

interface Person {
  readonly email: string;
  readonly contactId: string;
}

async function contact(email: string): Promise<Person> {
  return { email, contactId: (await send('POST', '/v1/contacts', { email })).body.data.id };
}

const membership = ({ contactId }: Person) => ({
  workspaceId: service.workspaceId,
  livemode: true,
  audienceId,
  contactId,
  now: service.service.clock.now(),
});
const leave = (database: Database, person: Person) =>
  leaveAudience(database, { ...membership(person), own: { source: 'preference page' } });

/** The ways in that are no act of the person. */
const WAYS: Readonly<Record<string, (database: Database, person: Person) => Promise<unknown>>> = {
  'a flow': (database, person) =>
    joinAudience(database, { ...membership(person), onlyPending: false, unlessLeft: true }),
  'a file': (_, { email }) => client.imported(`email\n${email}\n`, `?audienceId=${audienceId}`),
};

const waiters = async (): Promise<number> =>
  (await service.service.database.query(`select 1 from ${LOCK_WAITS}`)).length;

/**
 * Begins `first` on one connection and then the others on another, each of which has to wait; then commits.
 */
async function atOnce(
  first: (database: Database) => Promise<unknown>,
  ...others: readonly (() => Promise<unknown>)[]
): Promise<void> {
  const waiting: Promise<unknown>[] = [];
  await other.begin(async (transaction) => {
    const query = (text: string, parameters: readonly unknown[] = []) =>
      transaction.unsafe(text, [...parameters] as never[]);
    await first({ query } as never);
    for (const begin of others) {
      waiting.push(begin());
      await eventually(`${waiting.length} wait for the first`, async () =>
        (await waiters()) >= waiting.length ? true : undefined,
      );
    }
  });
  await Promise.all(waiting);
}

const isIn = async ({ email }: Person): Promise<boolean> =>
  (await client.contact(email)).audienceIds.includes(audienceId);

for (const [way, join] of Object.entries(WAYS))
  test(`${way} lets in no one who is just leaving`, async () => {
    const person = await contact(`${way.replace(' ', '-')}-late@once.example`);
    await join(service.service.database, person);
    expect(await isIn(person)).toBe(true);
    await atOnce(
      (database) => leave(database, person),
      () => join(service.service.database, person),
    );
    expect(await isIn(person)).toBe(false);
  });

test('who leaves while a flow lets them in is out', async () => {
  const person = await contact('flow-first@once.example');
  await atOnce(
    (database) => WAYS['a flow']?.(database, person) ?? Promise.reject(new Error('There is no such way.')),
    () => leave(service.service.database, person),
  );
  expect(await isIn(person)).toBe(false);
  await WAYS['a file']?.(service.service.database, person);
  expect(await isIn(person)).toBe(false);
});

test('who leaves while a file is committed is out', async () => {
  const people = await Promise.all(['a', 'b', 'c'].map((name) => contact(`${name}@many.example`)));
  people.sort((one, two) => (one.contactId < two.contactId ? -1 : 1));
  const [first, , last] = people as [Person, Person, Person];
  const lines = people.map(({ email }) => email).join('\n');
  // The file locks its contacts in the order of their ids: it has the first one and waits for the last.
  await atOnce(
    (database) => database.query('select id from contacts where id = $1 for update', [last.contactId]),
    () => client.imported(`email\n${lines}\n`, `?audienceId=${audienceId}`),
    () => leave(service.service.database, first),
  );
  expect(await Promise.all(people.map(isIn))).toEqual([false, true, true]);
});

/** Forgets a contact on a connection; the contact is read beforehand, on any. */
const forget = ({ query }: Pick<Database, 'query'>, { contactId }: Person) => {
  const { database, secretKeys, clock } = service.service;
  const { signer, sealer } = secretKeys;
  const read = database.read.bind(database);
  const deps = { database: { query, read }, signer, sealer, eraser: { wake() {} } };
  const caller = { workspaceId: service.workspaceId, livemode: true };
  return forgetContact(deps as never, { caller, params: { contact: contactId }, now: clock.now() } as never);
};

/** True where a person who is added again by their address is in the audience. */
const comesBack = async ({ email }: Person): Promise<boolean> => {
  await send('POST', '/v1/contacts', { email });
  await send('POST', `/v1/audiences/${audienceId}/contacts`, { emails: [email] });
  return isIn({ email, contactId: '' });
};

test('who leaves while they are forgotten does not come back', async () => {
  const person = await contact('forgotten@once.example');
  await WAYS['a file']?.(service.service.database, person);
  await atOnce(
    (database) => leave(database, person),
    () => {
      const { database } = service.service;
      return forget({ query: database.query.bind(database) }, person);
    },
  );
  expect(await comesBack(person)).toBe(false);
});

test('who is added again while they are forgotten does not come back', async () => {
  const person = await contact('again@once.example');
  await WAYS['a file']?.(service.service.database, person);
  await leave(service.service.database, person);
  await atOnce(
    (database) => forget(database, person),
    () => send('POST', '/v1/contacts', { email: person.email }),
  );
  expect(await comesBack(person)).toBe(false);
});

test('who is in a file while they are forgotten does not come back', async () => {
  const person = await contact('in-file@once.example');
  await WAYS['a file']?.(service.service.database, person);
  await leave(service.service.database, person);
  await atOnce(
    (database) => forget(database, person),
    () => client.imported(`email\n${person.email}\n`, `?audienceId=${audienceId}`),
  );
  expect(await comesBack(person)).toBe(false);
});
