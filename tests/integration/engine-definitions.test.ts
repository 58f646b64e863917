import { beforeAll, beforeEach, expect, test } from 'bun:test';
import pino from 'pino';
import type { AnyStateMachine } from 'xstate';
import { createMachine } from 'xstate';
import { Engine } from '../../src/engine/engine.ts';
import type { ActorEvent } from '../../src/engine/machine/kind.ts';
import type { Performer } from '../../src/engine/runtime/performers.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { idle, ManualClock, rowsOf, TEST } from '../support/engine.ts';
import { definedKind, definedTask, makeFixtureTables } from '../support/engine-fixture-kind.ts';
import { eventually } from '../support/eventually.ts';
import { onEachStore } from '../support/shared-store.ts';

const NOW = Date.UTC(2026, 10, 22);

onEachStore('an actor that runs a definition', (store) => {
  let definitions: Map<string, AnyStateMachine>;
  /** The definitions that were asked for, in order. */
  let asked: string[];
  let clock: ManualClock;
  let logged: string[];

  beforeAll(() => makeFixtureTables(store.database));
  beforeEach(async () => {
    definitions = new Map([
      ['one', definedTask(1)],
      ['two', definedTask(2)],
    ]);
    asked = [];
    logged = [];
    clock = new ManualClock(NOW);
    await store.database.query('delete from defineds');
  });

  const engineWith = (keptDefinitions: number, performer: Performer = idle, keptActors?: number): Engine =>
    new Engine({
      database: store.database,
      clock,
      logger: pino({ level: 'warn' }, { write: (line) => logged.push(line) }),
      keptDefinitions,
      ...(keptActors === undefined ? {} : { keptActors }),
      kinds: [
        {
          kind: definedKind,
          performer,
          machineOf: async (id) => {
            asked.push(id);
            return definitions.get(id) ?? null;
          },
        },
      ],
    });
  const spawn = async (engine: Engine, definitionId?: string): Promise<string> => {
    const id = mintId('flw', NOW);
    await engine.spawn('defined', { ...TEST, id, definitionId, input: { at: NOW }, columns: {} });
    return id;
  };
  const completed = (attempt: number) => ({ type: 'work.completed', at: NOW, attempt }) as const;
  const complete = async (engine: Engine, id: string, attempt = 1): Promise<unknown> => {
    const told = await engine.tell('defined', id, completed(attempt));
    return 'state' in told ? told.state : told.outcome;
  };
  const rows = () =>
    rowsOf<{ id: string; state: string; revision: number; definition: string | null }>(
      store.database,
      'select id, state, revision, definition_id as definition from defineds order by id',
    );

  test('takes its own way, beside others of the same kind, and without one that of the kind', async () => {
    const engine = engineWith(10);
    const [one, two, own] = await Promise.all([spawn(engine, 'one'), spawn(engine, 'two'), spawn(engine)]);
    const told = await Promise.all([one, two, own].map((id) => complete(engine, id as string)));
    expect(told).toEqual(['done', 'piece2', 'done']);
    expect(await complete(engine, two as string, 2)).toBe('done');
    expect(asked.toSorted()).toEqual(['one', 'two']);
    expect((await rows()).map(({ state, definition }) => [state, definition])).toEqual(
      expect.arrayContaining([
        ['done', 'one'],
        ['done', 'two'],
        ['done', null],
      ]),
    );
  });

  test('is taken up by an instance that has never seen its definition, by event and by timer', async () => {
    const before = engineWith(10);
    const [told, timed] = [await spawn(before, 'two'), await spawn(before, 'two')];
    asked = [];
    const after = engineWith(10);
    expect(await complete(after, told)).toBe('piece2');
    clock.time += 6_000;
    await after.wakeDue();
    expect(asked).toEqual(['two']);
    expect((await rows()).map(({ state }) => state).toSorted()).toEqual(['piece1', 'piece2']);
    expect(await rows()).toContainEqual({ id: timed, state: 'piece1', revision: 2, definition: 'two' });
    expect(logged).toEqual([]);
  });

  test('has its definition loaded again when others have taken its place, even within one batch', async () => {
    const engine = engineWith(1);
    const ids = [];
    for (const definition of ['one', 'two', 'one', 'two']) ids.push(await spawn(engine, definition));
    expect(asked).toEqual(['one', 'two', 'one', 'two']);
    expect(await Promise.all(ids.map((id) => complete(engine, id)))).toEqual([
      'done',
      'piece2',
      'done',
      'piece2',
    ]);
  });

  test('whose definition is missing fails with a sentence, stays as it is, and goes on when it is there again', async () => {
    const id = await spawn(engineWith(10), 'two');
    definitions.delete('two');
    const engine = engineWith(10);
    const [other] = [await spawn(engine, 'one')];
    const results = await Promise.allSettled([complete(engine, id), complete(engine, other)]);
    expect(results).toEqual([
      { status: 'rejected', reason: new UnavailableError('There is no definition "two" of defined.') },
      { status: 'fulfilled', value: 'done' },
    ]);
    expect(await rows()).toContainEqual({ id, state: 'piece1', revision: 1, definition: 'two' });

    clock.time += 6_000;
    await engine.wakeDue();
    expect(logged.join()).toContain('it stays due');
    expect(await rows()).toContainEqual({ id, state: 'piece1', revision: 1, definition: 'two' });

    definitions.set('two', definedTask(2));
    clock.time += 6_000;
    await engine.wakeDue();
    expect(await rows()).toContainEqual({ id, state: 'piece1', revision: 2, definition: 'two' });
    expect(await complete(engine, id, 2)).toBe('piece2');
  });

  test('keeps the outcome of what was performed until its definition is there again', async () => {
    const finish = Promise.withResolvers<readonly ActorEvent[]>();
    // Neither actor nor definition is kept, so that the outcome needs both of them again.
    const engine = engineWith(0, { slots: 1, backlog: 1, perform: () => finish.promise }, 0);
    const id = await spawn(engine, 'one');
    definitions.delete('one');
    asked = [];
    finish.resolve([completed(1)]);
    await eventually('the outcome told again', () => (asked.length > 1 ? true : undefined));
    definitions.set('one', definedTask(1));
    await eventually('the outcome', async () =>
      (await rows()).some((row) => row.id === id && row.state === 'done') ? true : undefined,
    );
    expect(logged).toEqual([]);
    await engine.stop();
  });

  test('is not begun when its definition is missing, or asks for what the engine cannot run', async () => {
    definitions.set(
      'nested',
      createMachine({ id: 'nested', initial: 'a', states: { a: { initial: 'b', states: { b: {} } } } }),
    );
    const engine = engineWith(10);
    expect(spawn(engine, 'unknown')).rejects.toThrow('There is no definition "unknown" of defined.');
    expect(spawn(engine, 'nested')).rejects.toThrow(
      'The definition "nested" of defined cannot be run: The machine "nested" cannot be run: its state "a" has nested states.',
    );
    await engine.stop();
    expect(await rows()).toEqual([]);
  });
});

test('a kind says whether it has definitions, and children have none', () => {
  const parts = { database: null as never, clock: new ManualClock(NOW), logger: pino({ level: 'silent' }) };
  expect(() => new Engine({ ...parts, kinds: [{ kind: definedKind }] })).toThrow(
    'defined needs both, hasDefinitions and machineOf, or neither.',
  );
  const child = {
    kind: definedKind,
    fact: 'none',
    input: () => ({ at: NOW }),
    sql: () => '',
    performedAtOnce: true,
  };
  const { hasDefinitions: _, ...plain } = definedKind;
  expect(() => new Engine({ ...parts, kinds: [{ kind: { ...plain, children: [child] } }] })).toThrow(
    'defined has definitions: its actors do not begin alike',
  );
});
