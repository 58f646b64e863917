import { expect, test } from 'bun:test';
import type { Instance } from '../../src/ops/torture/instance.ts';
import { FlowRecord } from '../../src/ops/torture/judge/flow-record.ts';
import { judge } from '../../src/ops/torture/judge/judge.ts';
import { OutsideRecord } from '../../src/ops/torture/judge/outside-record.ts';
import { readPerformed } from '../../src/ops/torture/judge/performed.ts';
import { ChaosClient } from '../../src/ops/torture/load/client.ts';
import { randomFrom } from '../../src/ops/torture/random.ts';
import { World } from '../../src/ops/torture/world.ts';
import { CRASH_POINTS, type CrashPoint } from '../../src/platform/config/settings/chaos-setting.ts';
import { eventually } from '../support/eventually.ts';
import { COMMAND } from '../support/service.ts';

// Kills an instance at every crash point while another one goes on, and then compares the database with the
// client's record. `posthorn torture` kills at the same points at random.

/**
 * Each seed is another visit of each point; more than one: CRASH_SEEDS=1,2,3 bun run test
 * tests/failure/crash-points
 */
const SEEDS = (process.env.CRASH_SEEDS ?? '1').split(',').map(Number);

const DATABASE_WAS_SILENT = /does not answer|did not answer|cannot be reached/;

/** Runs until the instance has visited the point often enough; answers what it printed where it never did. */
async function missedAt(target: Instance, point: CrashPoint, seed: number): Promise<string | null> {
  const chance = randomFrom(seed * 31 + CRASH_POINTS.indexOf(point));
  const crash = { at: point, visit: chance.between(1, 4), afterMs: chance.between(0, 4) };
  /** The signal that ended the latest start; null where it ended by itself, undefined while it runs. */
  let ended: string | null | undefined;
  const begin = (): void => {
    ended = undefined;
    target.start(seed, crash);
    void target.died().then((signal) => {
      ended = signal;
    });
  };
  begin();
  try {
    await eventually('its end', () => {
      // A start that the database does not answer in time ends, and is made again by what runs it. Any other
      // end is a fault.
      if (ended === null && DATABASE_WAS_SILENT.test(target.output)) begin();
      return ended === undefined ? undefined : true;
    });
  } catch {
    await target.end('SIGKILL');
    return target.output;
  }
  return ended === 'SIGKILL' ? null : target.output;
}

test('kill -9 at every named point loses nothing, doubles nothing and leaves the ledger in order', async () => {
  await using world = await World.make({
    embedded: false,
    instances: 3,
    command: COMMAND,
    postgresBin: null,
    webhooks: false,
    live: true,
    campaigns: false,
    clocks: true,
    seed: 1,
    broken: [],
  });
  const [, ...targets] = world.instances;
  await Promise.all(targets.map((target) => target.end('SIGKILL')));
  const record = new OutsideRecord();
  const urls = world.instances.map(({ url }) => url);
  const client = new ChaosClient({
    urls,
    keys: world.keys,
    liveFrom: world.liveFrom,
    record,
    seed: 1,
    workers: 8,
  });
  client.start();
  const visits = SEEDS.flatMap((seed) => CRASH_POINTS.map((point) => ({ point, seed })));
  const missed: string[] = [];
  await Promise.all(
    targets.map(async (target) => {
      for (let visit = visits.shift(); visit; visit = visits.shift()) {
        const printed = await missedAt(target, visit.point, visit.seed);
        if (printed !== null) missed.push(`${visit.point} of ${visit.seed}: ${printed}`);
      }
    }),
  );
  await client.stop();
  await world.settled();
  const performed = readPerformed(world.records);
  const verdict = await judge(world.where, {
    flowRecord: new FlowRecord(),
    campaignRecord: null,
    handed: null,
    record,
    performed,
    received: null,
    taken: world.sink.taken,
  });
  expect(missed).toEqual([]);
  expect(verdict.examples).toEqual([]);
  expect(verdict.acknowledged).toBeGreaterThan(100);
  expect(verdict.lostAttempts).toBeGreaterThan(0);
  expect(verdict.live?.taken).toBeGreaterThan(20);
});
