import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { loadConfig } from '../../src/config/config.ts';
import type { Database } from '../../src/db/database.ts';
import { Children } from '../../src/engine/children.ts';
import type { Kind } from '../../src/engine/kind.ts';
import type { BatchStatement } from '../../src/engine/statement-parts.ts';
import { commitStatement, spawnStatement } from '../../src/engine/statements.ts';
import { wakeWriting } from '../../src/engine/wake-at.ts';
import { openService } from '../../src/service.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { systemClock } from '../../src/time/clock.ts';
import { embeddedStore } from '../support/engine.ts';
import { createTestDatabase } from '../support/postgres.ts';

/** A clock that the database's is compared with, and one that it is not: they write `wake_at` differently. */
const CLOCKS = [systemClock, { ...systemClock, agreement: { skewMs: 0, machineSkewMs: 0, agrees: true } }];

/** The statements of a kind, each made anew: of one statement only the first few forms differ from the whole. */
const STATEMENTS = CLOCKS.flatMap((clock): readonly ((kind: Kind) => BatchStatement)[] => {
  const wake = wakeWriting(clock);
  return [
    (kind) => spawnStatement(kind, wake),
    (kind) => commitStatement(kind, wake),
    (kind) => commitStatement(kind, wake, { isContended: true }),
  ];
});

/** Which parts batches are made to need: none, each by itself, all but one, all. */
function needs(names: readonly string[]): readonly (readonly string[])[] {
  const all = [
    [],
    ...names.map((name) => [name]),
    ...names.map((name) => names.filter((n) => n !== name)),
    names,
  ];
  return [...new Map(all.map((some) => [some.join(), some])).values()];
}

/** The SQL of every form of the statements of a kind. */
function formsOf(kind: Kind): readonly string[] {
  const templates = new Children(kind.children).templates(0).rows;
  const forms = STATEMENTS.flatMap((make) =>
    needs(make(kind).parts.map(({ name }) => name)).map((needed) => {
      const statement = make(kind);
      const signs = statement.parts.flatMap(({ name, columns: [sign = ''] }) =>
        needed.includes(name) ? [sign] : [],
      );
      const row = { id: 'id', ...Object.fromEntries(signs.map((sign) => [sign, ''])) };
      return statement.prepare([row], 1, templates).sql;
    }),
  );
  return [...new Set(forms)];
}

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

describe.each(['PostgreSQL', 'PGlite'])('on %s', (name) => {
  test('every form of every statement of every kind can be planned', async () => {
    const database = databases.get(name) as Database;
    const faults: string[] = [];
    let planned = 0;
    for (const kind of kinds)
      for (const sql of formsOf(kind)) {
        planned++;
        await database
          .script(`explain (generic_plan) ${sql}`)
          .catch((error: Error) => faults.push(`${kind.name}: ${error.message}\n${sql}`));
      }
    expect(faults).toEqual([]);
    // A kind without parts has two forms for each of its statements' clocks at least.
    expect(planned).toBeGreaterThan(4 * kinds.length);
  });
});

test('a form that lacks what it reads is found', async () => {
  const database = databases.get('PGlite') as Database;
  const [kind] = kinds.filter(({ life }) => life);
  const [form = ''] = formsOf(kind as Kind);
  const lacking = form.replace('with input as materialized', 'with inputs as materialized');
  await expect(database.script(`explain (generic_plan) ${lacking}`)).rejects.toThrow('"input"');
});
