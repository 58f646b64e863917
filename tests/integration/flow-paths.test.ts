import { beforeAll, expect, test } from 'bun:test';
import pino from 'pino';
import type { FlowDefinition } from '../../machines/flow-definition.ts';
import { WAITS } from '../../machines/flow-definition.ts';
import { compileFlow } from '../../machines/flow-run.ts';
import { mintId } from '../../src/db/ids.ts';
import { Engine } from '../../src/engine/engine.ts';
import { flowRunKind } from '../../src/modules/flows/kind.ts';
import { idle, ManualClock, rowsOf } from '../support/engine.ts';
import { type FlowPath, generatedFlows, pathsOf } from '../support/generated-flows.ts';
import { onEachStore } from '../support/shared-store.ts';

const NOON = Date.UTC(2026, 10, 22, 12);
const SCOPE = { workspaceId: 'ws_test', livemode: true };
const FLOWS = generatedFlows(12, 7);

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
  const engineAt = (clock: ManualClock): Engine =>
    new Engine({
      ...{
        database: store.database,
        clock,
        logger: pino({ level: 'silent' }),
        keptActors: 0,
        keptDefinitions: 3,
      },
      kinds: [
        {
          ...{ kind: flowRunKind, performer: idle },
          machineOf: async (id) => compileFlow(FLOWS[Number(id)] as FlowDefinition),
        },
      ],
    });

  const rowOf = async (id: string): Promise<Row> => {
    const [row] = await rowsOf<Row>(
      store.database,
      `select state, (extract(epoch from wake_at) * 1000)::float8 as wake_at, awaits from flow_runs where id = $1`,
      [id],
    );
    if (!row) throw new Error('The run is gone.');
    return row;
  };

  /** Goes a way; the process "dies" at every commit, since each event meets another engine. */
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
    await engineAt(clock).spawn('flowRun', {
      ...{ ...SCOPE, id, definitionId, input: begun },
      columns: {
        ...{ started_at: new Date(NOON).toISOString(), flow_id: 'flw_1', flow_version: 1, contact_id: id },
        ...{ occurrence_key: id, is_watched: false, is_once: false },
      },
    });
    let visit = 0;
    for (const { step, way } of path) {
      visit++;
      if (step.type === 'exit') break;
      let row = await rowOf(id);
      // The quiet hours come first.
      if (row.state === 'postponed') {
        clock.time = Math.ceil(row.wake_at ?? 0);
        await engineAt(clock).wakeDue();
        row = await rowOf(id);
      }
      expect(row.state).toBe(step.key);
      if (way === 'event') {
        const event = { type: 'event.came' as const, at: clock.time, name: 'paid', position: String(visit) };
        await engineAt(clock).tell('flowRun', id, event);
      } else if (WAITS.has(step.type)) {
        clock.time = Math.ceil(row.wake_at ?? 0);
        await engineAt(clock).wakeDue();
      } else {
        const told = { at: clock.time, visit, way, outcome: way, emailId: null, timeZone: 'UTC' };
        const first = await engineAt(clock).tell('flowRun', id, { type: 'step.done', ...told });
        expect(first.outcome).toBe('changed');
        // Told twice, it is done once.
        const second = await engineAt(clock).tell('flowRun', id, { type: 'step.done', ...told });
        expect(second.outcome === 'changed').toBe(false);
      }
    }
    return id;
  }

  test('go every way to the end that their edges say, whichever commit was the last before a crash', async () => {
    let walked = 0;
    for (const [index, flow] of FLOWS.entries())
      for (const path of pathsOf(flow, 5)) {
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
