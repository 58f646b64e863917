import { afterAll, beforeAll, expect, test } from 'bun:test';
import postgres from 'postgres';
import { joinAudience, leaveAudience } from '../../src/audience/audiences/commands.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { type ImportClient, importClient } from '../contract/import-client.ts';
import { type RealService, startRealService } from '../contract/real-service.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';

// Two connections of one PostgreSQL: a contact leaves an audience while something else lets it in. Whichever begins first, who has left by
// an own act is out at the end.

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
  ...{ workspaceId: service.workspaceId, livemode: true, audienceId, contactId },
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
  (
    await service.service.database.query(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
  ).length;

/** Begins `first` on one connection and then the others on another, each of which has to wait; then commits. */
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
