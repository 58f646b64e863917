import { expect, test } from 'bun:test';
import type { EmailEvent } from '../../machines/email/context.ts';
import type { Parameter } from '../../src/platform/db/database.ts';
import { TOOK_TOO_LONG } from '../../src/platform/db/sqlstate.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { accepted, countOf, emailSpawn, engineOver, plainInput, rowsOf } from '../support/engine.ts';
import { HookedDatabase } from '../support/engine-faults.ts';
import { onEachStore } from '../support/shared-store.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const isCommit = (text: string): boolean => text.includes('insert into email_turns');
const delivered = { type: 'report.received', at: NOW, report: { type: 'delivered', recipient: 0, data: {} } };

/** Actors in the input of a commit: their ids stand in one parameter. */
const actorsIn = (parameters: readonly Parameter[]): number =>
  parameters.find((one): one is string => typeof one === 'string' && one.startsWith('em_'))?.split('em_')
    .length ?? 0;

onEachStore('a batch of engine events', (store) => {
  const scene = async (count: number, keptActors?: number) => {
    const database = new HookedDatabase(store.database);
    const engine = engineOver(database, keptActors === undefined ? {} : { keptActors });
    const inserts = Array.from({ length: count }, () => emailSpawn(plainInput(NOW)));
    await Promise.all(inserts.map((insert) => engine.spawn('email', insert)));
    return { database, engine, ids: inserts.map(({ id }) => id) };
  };

  test('is halved and retried when it takes too long', async () => {
    const { database, engine, ids } = await scene(300);
    const sizes: number[] = [];
    database.before = (text, parameters) => {
      if (!isCommit(text)) return;
      const size = actorsIn(parameters) - 1;
      sizes.push(size);
      if (size > 60) throw new UnavailableError('No resources.', 'no', 1, { cause: { code: TOOK_TOO_LONG } });
    };
    const results = await Promise.all(
      ids.map((id) => engine.tell('email', id, accepted(NOW), { patienceMs: 20_000 })),
    );
    expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['changed']));
    // Each lane has about half of them, and halves its own.
    const lanes = database.kind === 'embedded' ? 1 : 2;
    expect(sizes.slice(0, lanes).reduce((sum, size) => sum + size)).toBe(300);
    const halves = (size: number): number => size >> 1;
    for (const size of sizes.slice(0, lanes)) expect(sizes).toContain(halves(size));
    expect(
      await countOf(store.database, `emails_now where id = any($1::text[]) and state = 'sent'`, [ids]),
    ).toBe(300);
  });

  test('is never split within the report of one attempt', async () => {
    const { database, engine, ids } = await scene(300);
    let commits = 0;
    database.before = (text) => {
      if (isCommit(text) && ++commits > 1) throw new Error('killed before the second batch');
    };
    const [first = '', ...others] = ids;
    // One letter ahead of the pairs: the 500th is the first half of one.
    const result = [engine.tell('email', first, accepted(NOW))];
    for (const id of others) {
      const report = {};
      result.push(engine.tell('email', id, accepted(NOW), { report }));
      result.push(engine.tell('email', id, delivered as EmailEvent, { report }));
    }
    await Promise.allSettled(result);
    expect(commits).toBeGreaterThan(1);
    const states = await rowsOf<{ state: string; n: number }>(
      store.database,
      `select state, count(*)::integer as n from emails_now where id = any($1::text[]) group by state`,
      [others],
    );
    expect(states.map(({ state }) => state).sort()).toEqual(['delivered', 'sending']);
  });

  test('is half of those who ask at once where the database works meanwhile, and all of them where it is in this process', async () => {
    const database = new HookedDatabase(store.database);
    const engine = engineOver(database);
    let inserts = 0;
    database.before = (text) => {
      if (/insert into emails\s/.test(text)) inserts++;
    };
    await Promise.all(Array.from({ length: 64 }, () => engine.spawn('email', emailSpawn(plainInput(NOW)))));
    // Two of the sixteen from which on there are many, since nothing is known yet, and the rest.
    expect(inserts).toBe(database.kind === 'embedded' ? 1 : 3);
  });

  test('keeps its actors when the cache evicts them meanwhile', async () => {
    const { database, engine, ids } = await scene(1, 2);
    const [read = ''] = ids;
    const inserts = Array.from({ length: 4 }, () => emailSpawn(plainInput(NOW)));
    const [kept, other, ...late] = inserts;
    if (!kept || !other) throw new Error('too few');
    await engine.spawn('email', kept);
    await engine.spawn('email', other);
    let isInserted = false;
    database.before = async (text) => {
      if (
        isInserted ||
        !text.includes('from unnest($1::text[]) i(id) cross join lateral (select * from emails')
      )
        return;
      isInserted = true;
      for (const insert of late) await engine.spawn('email', insert);
    };
    const results = await Promise.all(
      [kept.id, read].map((id) => engine.tell('email', id, accepted(NOW), { patienceMs: 5_000 })),
    );
    expect(isInserted).toBe(true);
    expect(results.map(({ outcome }) => outcome)).toEqual(['changed', 'changed']);
  });

  test('knows an attempt under way without reading it, however far its lease reaches', async () => {
    const database = new HookedDatabase(store.database);
    const engine = engineOver(database);
    const insert = emailSpawn(plainInput(NOW, { livemode: true, leaseMs: 720_000 }));
    await engine.spawn('email', insert);
    const begun = { type: 'attempt.begun', at: NOW, attempt: 1, by: 'me' } as const;
    expect(await engine.tell('email', insert.id, begun)).toMatchObject({ state: 'sending' });
    const statements: string[] = [];
    database.before = (text) => void statements.push(text);
    const completed = { ...accepted(NOW), by: 'me' } as EmailEvent;
    expect(await engine.tell('email', insert.id, completed)).toMatchObject({ state: 'sent' });
    expect(statements.map(isCommit)).toEqual([true]);
  });
});
