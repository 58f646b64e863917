import { TortureClient } from './client.ts';
import { type Fault, Faults } from './faults.ts';
import { judge, type Verdict } from './judge.ts';
import { type Exercised, OutsideRecord } from './outside-record.ts';
import { readPerformed } from './performed.ts';
import { World, type WorldOptions } from './world.ts';

/** How to torture. */
export interface TortureOptions extends WorldOptions {
  readonly seconds: number;
  /** Requests under way at most. */
  readonly workers: number;
  /** Ends the trouble early when it resolves; what is left is judged all the same. */
  readonly enough?: Promise<unknown>;
}

/** What the torture tells while it goes on. */
export interface Progress {
  readonly seconds: number;
  readonly acknowledged: number;
  readonly troubles: number;
}

/** What it came to. */
export interface Outcome {
  readonly verdict: Verdict;
  readonly troubles: ReadonlyMap<Fault, number>;
  readonly repliesSwallowed: number;
  /** What the mail server did to messages, and how often. */
  readonly sinkFaults: ReadonlyMap<string, number>;
  /** What the client did. */
  readonly exercised: Readonly<Exercised>;
  /** What the instances printed last. */
  readonly output: readonly string[];
}

/** Tortures instances of the service on a PostgreSQL of its own, and judges what is left. */
export async function torture(options: TortureOptions, tell: (progress: Progress) => void): Promise<Outcome> {
  await using world = await World.make(options);
  const { instances, relays, server, receiver, sink, records, keys, liveFrom, leaseMs } = world;
  const { seed, workers } = options;
  const record = new OutsideRecord();
  const urls = instances.map(({ url }) => url);
  const client = new TortureClient({ urls, keys, liveFrom, record, seed, workers });
  const troubles = new Faults({
    instances,
    relays,
    postgres: server,
    leaseMs,
    clocks: options.clocks,
    seed,
  });
  client.start();
  troubles.start();
  const begin = performance.now();
  let isEnough = false;
  void options.enough?.then(() => {
    isEnough = true;
  });
  while (!isEnough && performance.now() - begin < options.seconds * 1_000) {
    await Bun.sleep(1_000);
    const seconds = Math.round((performance.now() - begin) / 1_000);
    const made = [...troubles.counts.values()].reduce((sum, count) => sum + count, 0);
    tell({ seconds, acknowledged: record.acknowledged.size, troubles: made });
  }
  await troubles.stop();
  await client.stop();
  await world.settled();
  const performed = readPerformed(records);
  return {
    verdict: await judge(world.url, {
      record,
      performed,
      received: options.webhooks ? receiver.received : null,
      taken: options.live ? sink.taken : null,
    }),
    troubles: troubles.counts,
    repliesSwallowed: relays.reduce((sum, { swallowed }) => sum + swallowed, 0),
    sinkFaults: sink.faults,
    exercised: record.exercised,
    output: instances.map(({ output }) => output),
  };
}
