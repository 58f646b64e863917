import postgres from 'postgres';
import { livesPerSecond } from './lives.ts';
import type { Section } from './workbench.ts';

/** Rounds that a transaction is held open for; throughput is that of the last one. */
const ROUNDS = 4;

/** A transaction that somebody holds open keeps every dead row from being removed; what that does to lives. */
export const horizon: Section = {
  name: 'horizon',
  async run(bench) {
    const count = bench.scale.emails;
    const url = await bench.database('bench_horizon');
    await using service = await bench.service(url);
    await livesPerSecond(url, [service.port], 16, 4_000);
    bench.say('Whole lives, nobody holding anything …');
    const free = await livesPerSecond(url, [service.port], 128, count);
    const holder = postgres(url, { max: 1 });
    await holder.unsafe('begin transaction isolation level repeatable read');
    await holder.unsafe('select count(*) from emails');
    let held = 0;
    const begin = performance.now();
    for (let round = 1; round <= ROUNDS; round++) {
      bench.say(`Whole lives under a held transaction, ${round} of ${ROUNDS} …`);
      held = await livesPerSecond(url, [service.port], 128, count);
    }
    const seconds = Math.round((performance.now() - begin) / 1_000);
    await holder.unsafe('rollback');
    await holder.end();
    return [
      { what: '(h) whole lives, no old transaction', perSecond: free },
      { what: `(h) the same after ${seconds} s under a held one`, perSecond: held },
    ];
  },
};
