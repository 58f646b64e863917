import { type AnyStateMachine, assign, setup } from 'xstate';
import { storedStates } from '../../machines/names.ts';
import { type ChildSpec, defineKind } from '../../src/engine/machine/kind.ts';
import { insertActors } from '../../src/engine/store/actor-columns.ts';
import { sharedFact } from '../../src/engine/store/shared-fact.ts';
import type { Database } from '../../src/platform/db/database.ts';

// A kind of actor that no product has, so that tests of the engine depend on nothing but the engine.

interface TaskContext {
  readonly at: number;
  readonly attempt: number;
}
type TaskEvent =
  | { readonly type: 'work.completed'; readonly at: number; readonly attempt: number }
  | { readonly type: 'stop.requested'; readonly at: number };

const taskSetup = setup({
  types: { context: {} as TaskContext, events: {} as TaskEvent, input: {} as { readonly at: number } },
  actions: {
    /** Order. */
    work: (_, _params: { readonly attempt: number }) => {},
    /** Fact: what the children are made from. */
    announce: (_, _params: { readonly what: string }) => {},
  },
  guards: {
    isUnderWay: ({ context, event }) => event.type === 'work.completed' && event.attempt === context.attempt,
  },
  delays: { lease: 5_000 },
});

/** Works at once; announces that it has begun, and that it is done. */
const taskMachine = taskSetup.createMachine({
  id: 'task',
  context: ({ input }) => ({ at: input.at, attempt: 0 }),
  initial: 'working',
  states: {
    working: {
      entry: [
        assign(({ context }) => ({ attempt: context.attempt + 1 })),
        { type: 'work', params: ({ context }) => ({ attempt: context.attempt }) },
        { type: 'announce', params: { what: 'begun' } },
      ],
      on: {
        'work.completed': {
          guard: 'isUnderWay',
          target: 'done',
          actions: { type: 'announce', params: { what: 'done' } },
        },
        'stop.requested': 'stopped',
      },
      after: { lease: { target: 'working', reenter: true } },
    },
    done: { type: 'final' },
    stopped: { type: 'final' },
  },
});
const TASK_STATES = storedStates(taskMachine);

/**
 * A task as a user defined it: so many pieces of work, one after the other. Its states are its own; the
 * events and effects are those of a task.
 */
export function definedTask(pieces: number): AnyStateMachine {
  const names = Array.from({ length: pieces }, (_, index) => `piece${index + 1}`);
  const pieceOf = (name: string, index: number): object => ({
    entry: [
      assign(({ context }: { context: TaskContext }) => ({ attempt: context.attempt + 1 })),
      { type: 'work', params: ({ context }: { context: TaskContext }) => ({ attempt: context.attempt }) },
    ],
    on: {
      'work.completed': { guard: 'isUnderWay', target: names[index + 1] ?? 'done' },
      'stop.requested': 'stopped',
    },
    after: { lease: { target: name, reenter: true } },
  });
  return taskSetup.createMachine({
    id: 'definedTask',
    context: ({ input }: { input: { readonly at: number } }) => ({ at: input.at, attempt: 0 }),
    initial: 'piece1',
    states: {
      ...Object.fromEntries(names.map((name, index) => [name, pieceOf(name, index)])),
      done: { type: 'final' },
      stopped: { type: 'final' },
    },
  } as never) as never;
}

/** The tables of a kind of tasks. */
const tablesOf = (name: string): string => `
create table ${name}s (id text collate "C" primary key, workspace_id text not null, livemode boolean not null,
  state text not null, context json not null, revision integer not null, machine_version smallint not null, timers json,
  wake_at timestamptz, definition_id text, parent text);
create table ${name}_journal (actor_id text collate "C", revision integer, commit_tag integer not null, steps json not null,
  primary key (actor_id, revision))`;

const kindOf = <const Name extends string>(
  name: Name,
  idPrefix: 'run' | 'imp' | 'aud' | 'flw',
  fact: string,
) =>
  defineKind({
    name,
    table: `${name}s`,
    idPrefix,
    machine: taskMachine,
    states: TASK_STATES,
    version: 1,
    derived: [],
    spawn: { columns: 'parent text', insertColumns: ['parent'], insertInto: [] },
    actorColumnsForFacts: [],
    facts: [announced(fact)],
    children: [],
    journal: `${name}_journal`,
    effects: { work: { order: true }, announce: { fact, rows: ({ what }) => [{ what }] } },
  });

const announced = (name: string) =>
  sharedFact(name, ['actor', 'what', 'workspace_id', 'livemode'], {
    columns: 'what text',
    sql: (source, returning) => `select ${returning} from ${source} s`,
  });

/** Kinds that are made by others here. */
export const helperKind = kindOf('helper', 'imp', 'helper_announced');
export const watcherKind = kindOf('watcher', 'aud', 'watcher_announced');

const childOf = (kind: typeof helperKind | typeof watcherKind, what: string): ChildSpec => ({
  kind,
  fact: 'task_announced',
  input: (at) => ({ at }),
  sql: (template) => {
    const a = announced('task_announced').as('a');
    return insertActors(
      kind,
      template,
      {
        id: `'${kind.idPrefix}_' || substr(${a.actor}, 5)`,
        workspace_id: a.workspace_id,
        livemode: a.livemode,
        parent: a.actor,
      },
      `${a.from} cross join ${template} where ${a.what} = '${what}'`,
    );
  },
  performedAtOnce: true,
});

/** A task, which gets a helper when it begins and a watcher when it is done. */
export const taskKind = {
  ...kindOf('task', 'run', 'task_announced'),
  children: [childOf(helperKind, 'begun'), childOf(watcherKind, 'done')],
};

/** Tasks that run what others have defined. */
export const definedKind = {
  ...kindOf('defined', 'flw', 'defined_announced'),
  hasDefinitions: true as const,
};

interface Task {
  readonly machine: typeof taskMachine;
  readonly states: typeof TASK_STATES;
}
declare module '../../src/engine/machine/kind.ts' {
  interface Kinds {
    readonly task: Task;
    readonly helper: Task;
    readonly watcher: Task;
    readonly defined: Task;
  }
}

/** Makes the tables of these kinds. */
export async function makeFixtureTables(database: Database): Promise<void> {
  for (const name of ['task', 'helper', 'watcher', 'defined'])
    for (const statement of tablesOf(name).split(';')) await database.query(statement);
}
