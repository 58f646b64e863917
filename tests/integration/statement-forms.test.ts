import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { kindPage } from '../../scripts/sql/pages.ts';
import type { Kind } from '../../src/engine/machine/kind.ts';
import { MODULE_KINDS, withOthers } from '../../src/modules.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { openService } from '../../src/service.ts';
import { embeddedStore } from '../support/engine.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { formsOf } from '../support/statement-forms.ts';

let kinds: readonly Kind[];
const databases = new Map<string, Database>();
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  const made = await createTestDatabase();
  stack.defer(() => made.close());
  const loaded = loadConfig({ HOST: '127.0.0.1', SECRET_KEY: 's'.repeat(32), DATABASE_URL: made.url });
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'));
  const logger = createLogger({ level: 'silent', pretty: false });
  const service = await openService({ config: loaded.config, logger });
  stack.defer(() => service.stop());
  // As the service runs them: with what other modules write in their commits.
  kinds = service.engine.kinds;
  databases.set('PostgreSQL', service.database);
  databases.set('PGlite', stack.use(await embeddedStore()).database);
});
afterAll(() => stack.disposeAsync());

/**
 * Why a statement cannot be planned; null when it can. It is asked again where the database could not be
 * asked: a machine that is busy enough is taken for one that does not answer, which says nothing about the
 * statement.
 */
async function faultOf(database: Database, sql: string): Promise<string | null> {
  for (;;)
    try {
      await database.script(`explain (generic_plan) ${sql}`);
      return null;
    } catch (error) {
      if (!(error instanceof UnavailableError)) return (error as Error).message;
    }
}

// The embedded database takes three times as long for one. Its planner is that of the server, so that there
// it is asked for those forms alone that together have everything that any form has.
describe.each([
  ['PostgreSQL', 'every'],
  ['PGlite', 'ends'],
] as const)('on %s', (name, which) => {
  test('every form of every statement of every kind can be planned', async () => {
    const database = databases.get(name) as Database;
    const faults: string[] = [];
    let planned = 0;
    for (const kind of kinds)
      for (const sql of formsOf(kind, which)) {
        planned++;
        const fault = await faultOf(database, sql);
        if (fault !== null) faults.push(`${kind.name}: ${fault}\n${sql}`);
      }
    expect(faults).toEqual([]);
    // A kind without parts has two forms for each of its statements' clocks at least.
    expect(planned).toBeGreaterThan(4 * kinds.length);
  });
});

test('a form that lacks what it reads is found', async () => {
  const database = databases.get('PGlite') as Database;
  const [kind] = kinds.filter(({ history }) => history);
  const [form = ''] = formsOf(kind as Kind);
  const lacking = form.replace('with input as materialized', 'with inputs as materialized');
  await expect(database.script(`explain (generic_plan) ${lacking}`)).rejects.toThrow('"input"');
});

test('docs/sql has the statements of the kinds as the service runs them', () => {
  const printed = MODULE_KINDS.map(withOthers).map(({ kind }) => [kind.name, kindPage(kind)] as const);
  expect(new Map(kinds.map((kind) => [kind.name, kindPage(kind)]))).toEqual(new Map(printed));
});
