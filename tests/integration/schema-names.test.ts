import { afterAll, beforeAll, expect, test } from 'bun:test';
import { SUPPRESSION_REASONS } from '../../machines/email/rules.ts';
import { CONTACT_STATUSES } from '../../src/mail/list-files/consent-words.ts';
import { MODULE_KINDS } from '../../src/modules.ts';
import { TRANSPORTS } from '../../src/platform/config/transport-names.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { FOUND_BY } from '../../src/sending/emails/read/page.ts';
import { embeddedDatabase } from '../support/embedded.ts';

// The schema is plain SQL, which no compiler reads: names that it repeats are held here to the lists that own
// them.

let database: Database;
beforeAll(async () => {
  database = await embeddedDatabase();
});
afterAll(() => database.close());

/** The texts in a definition, in alphabetical order. */
const namesIn = (definition: string | undefined): readonly string[] =>
  [...(definition ?? '').matchAll(/'(\w+)'::text/g)].map(([, name = '']) => name).toSorted();

const allowed = async (table: string, column: string): Promise<readonly string[]> => {
  const [row] = await database.query<{ definition: string }>(
    `select pg_get_constraintdef(oid) as definition from pg_constraint
     where conrelid = $1::text::regclass and contype = 'c' and conname = $2`,
    [table, `${table}_${column}_check`],
  );
  return namesIn(row?.definition);
};

test.each(
  // Of a kind with definitions each actor has its own states.
  MODULE_KINDS.filter(({ kind }) => !kind.hasDefinitions).flatMap(
    ({ kind: { name, table, history, states } }) =>
      (history ? [history.inserts, history.revisions] : [table]).map((one) => [name, one, states] as const),
  ),
)('the rows of %s may have the states of its machine and no other', async (_, table, states) => {
  expect(await allowed(table, 'state')).toEqual(states.toSorted());
});

test.each([
  ['suppressions', 'reason', SUPPRESSION_REASONS],
  ['domain_transports', 'provider', TRANSPORTS],
  ['contacts', 'status', CONTACT_STATUSES],
] as const)('%s.%s may be what its owner lists and nothing else', async (table, column, names) => {
  expect(await allowed(table, column)).toEqual(names.toSorted());
});

test.each([
  ['email_turns_by_rare_state', 'ended'],
  ['email_due_by_state', 'waiting'],
])('the index %s has the states that a list asks it for', async (index, place) => {
  const [row] = await database.query<{ predicate: string }>(
    `select pg_get_expr(indpred, indrelid) as predicate from pg_index where indexrelid = $1::text::regclass`,
    [index],
  );
  const asked = Object.entries(FOUND_BY).flatMap(([state, by]) => (by === place ? [state] : []));
  expect(namesIn(row?.predicate)).toEqual(asked.toSorted());
});
