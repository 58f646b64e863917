import { beforeAll, expect, test } from 'bun:test';
import pino from 'pino';
import type { FlowDefinition } from '../../machines/flow-run/definition.ts';
import { WAITS } from '../../machines/flow-run/definition.ts';
import { compileFlow } from '../../machines/flow-run/machine.ts';
import { flowRunKind } from '../../src/automation/flows/kind.ts';
import { Engine } from '../../src/engine/engine.ts';
import type { Database, Parameter, QueryOptions } from '../../src/platform/db/database.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { isDuplicate } from '../../src/platform/db/sqlstate.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { idle, ManualClock, rowsOf } from '../support/engine.ts';
import { type FlowPath, generatedFlows, pathsOf } from '../support/generated-flows.ts';
import { onEachStore } from '../support/shared-store.ts';

const NOON = Date.UTC(2026, 10, 22, 12);
const SCOPE = { workspaceId: 'ws_test', livemode: true };
/** `FLOWS=200 bun run test tests/integration/flow-paths` walks more of them. */
const FLOWS = generatedFlows(Number(process.env.FLOWS ?? 12), 7);
/** Of one flow; nearly every one has fewer. */
const MOST_PATHS = 24;
/** A claim that dies is due again within a while. */
const CLAIMED_MS = 6_000;

/**
 * The database of a process that dies at its first commit: before the statement has left, or before its reply
 * has come.
 */
function dying(database: Database, moment: 'before' | 'after'): Database {
  const gone = () => new UnavailableError('The process is gone.', 'unknown');
  let isDead = false;
  return {
    kind: database.kind,
    async query<Row extends object>(
      text: string,
      parameters: readonly Parameter[] = [],
      options: QueryOptions = {},
    ): Promise<Row[]> {
      if (isDead) throw gone();
      if (options.name !== 'commit' && options.name !== 'spawn')
        return database.query<Row>(text, parameters, options);
      isDead = true;
      if (moment === 'after') await database.query(text, parameters, options);
      throw gone();
    },
  } as Database;
}

interface Row {
  readonly state: string;
  readonly wake_at: number | null;
  readonly awaits: string | null;
}

onEachStore('generated flows', (store) => {
  beforeAll(async () => {
    await store.database.query(
      `insert into workspaces (id, name, plan, created_at) values ('ws_test', 'Test', 'growth', now())`,
    );
  });

  /** An engine that remembers nothing: what it decides upon is what the commit before has stored. */
  const engineAt = (clock: ManualClock, database = store.database): Engine =>
    new Engine({
      database,
      clock,
      logger: pino({ level: 'silent' }),
      keptActors: 0,
      keptDefinitions: 3,
      kinds: [
        {
          kind: flowRunKind,
          performer: idle,
          machineOf: async (id) => compileFlow(FLOWS[Number(id)] as FlowDefinition),
        },
      ],
    });

  /**
   * Two processes die at the commit, the first before it and the second behind it; the third gets the same
   * event.
   */
  async function throughCrashes<Told>(
    clock: ManualClock,
    tell: (engine: Engine) => Promise<Told>,
  ): Promise<Told> {
    for (const moment of ['before', 'after'] as const) {
      const died = await tell(engineAt(clock, dying(store.database, moment))).catch(
        (error: unknown) => error,
      );
      expect(died).toBeInstanceOf(UnavailableError);
    }
    return tell(engineAt(clock));
  }

  /** The same for the clock: a process that has claimed a run and died leaves it due. */
  async function wakeThroughCrashes(clock: ManualClock, dueAt: number): Promise<void> {
    clock.time = Math.ceil(dueAt);
    for (const moment of ['before', 'after'] as const) {
      await engineAt(clock, dying(store.database, moment)).wakeDue();
      if (moment === 'before') clock.time += CLAIMED_MS;
    }
    await engineAt(clock).wakeDue();
  }

  const rowOf = async (id: string): Promise<Row> => {
    const [row] = await rowsOf<Row>(
      store.database,
      `select state, (extract(epoch from wake_at) * 1000)::float8 as wake_at, awaits from flow_runs where id = $1`,
      [id],
    );
    if (!row) throw new Error('The run is gone.');
    return row;
  };

  /** Goes a way; at every commit processes die, before it and behind it, and another one goes on. */
  async function go(definitionId: string, path: FlowPath): Promise<string> {
    const clock = new ManualClock(NOON);
    const id = mintId('run', NOON);
    const begun = {
      at: NOON,
      leaseMs: 60_000,
      contactId: id,
      timeZone: 'UTC',
      occurrence: null,
      seen: '0',
      depth: 0,
    };
    const spawn = (engine: Engine) =>
      engine.spawn('flowRun', {
        ...SCOPE,
        id,
        definitionId,
        input: begun,
        columns: {
          started_at: new Date(NOON).toISOString(),
          flow_id: 'flw_1',
          flow_version: 1,
          contact_id: id,
          occurrence_key: id,
          is_watched: false,
          is_once: false,
        },
      });
    expect(isDuplicate(await throughCrashes(clock, spawn).catch((error: unknown) => error))).toBe(true);
    let visit = 0;
    for (const { step, way } of path) {
      visit++;
      if (step.type === 'exit') break;
      let row = await rowOf(id);
      // The quiet hours come first.
      if (row.state === 'postponed') {
        await wakeThroughCrashes(clock, row.wake_at ?? 0);
        row = await rowOf(id);
      }
      expect(row.state).toBe(step.key);
      if (way !== 'event' && WAITS.has(step.type)) {
        await wakeThroughCrashes(clock, row.wake_at ?? 0);
        continue;
      }
      const told =
        way === 'event'
          ? { type: 'event.came' as const, at: clock.time, name: 'paid', position: String(visit) }
          : {
              type: 'step.done' as const,
              at: clock.time,
              visit,
              way,
              outcome: way,
              emailId: null,
              timeZone: 'UTC',
            };
      // A process that died behind the commit has not heard of it; the repeated event does nothing.
      const { outcome } = await throughCrashes(clock, (engine) => engine.tell('flowRun', id, told));
      expect(outcome).toBe('refused');
    }
    return id;
  }

  test('go every way to the end that their edges say, whichever commit was the last before a crash', async () => {
    let walked = 0;
    for (const [index, flow] of FLOWS.entries())
      for (const path of pathsOf(flow, MOST_PATHS)) {
        const id = await go(String(index), path);
        const last = path.at(-1);
        expect((await rowOf(id)).state).toBe(last?.step.type === 'exit' ? 'exited' : 'completed');
        const log = await rowsOf<{ step: string; outcome: string }>(
          store.database,
          'select step, outcome from flow_run_log where run_id = $1 order by visit',
          [id],
        );
        expect(log).toEqual(
          path.map(({ step: { key, type }, way }) => ({
            step: key,
            outcome: type === 'exit' ? 'exited' : way === 'default' && WAITS.has(type) ? 'waited' : way,
          })),
        );
        walked++;
      }
    expect(walked).toBeGreaterThan(20);
  });
});
