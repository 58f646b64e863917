import postgres from 'postgres';
import { TEST_KEY } from '../support/service.ts';
import { allAccepted, EMAIL } from './accepted.ts';
import { wholeLives } from './lives.ts';
import { preparePost } from './load.ts';
import { printSizes } from './sizes.ts';
import type { Row } from './table.ts';
import type { Section, Workbench } from './workbench.ts';

const CONNECTIONS = 128;
/** Requests between two looks at the time. */
const STRETCH = CONNECTIONS * 20;

/** Lives that ended in each slice of the time; what is cut off at the end is no slice. */
const ENDED = `select floor(extract(epoch from occurred_at - $1) / $2)::int as slice, count(*)::int as n
from email_events where type = 'delivered' and occurred_at >= $1 group by 1 order by 1`;

const sliceOf = ({ scale: { freeSeconds, holdSeconds } }: Workbench): number =>
  Math.min(60, freeSeconds / 2, holdSeconds / 2);

/** Lives a second at the beginning and at the end of a load that goes on for so long. */
async function loadFor(
  bench: Workbench,
  held: boolean,
  seconds: number,
): Promise<readonly [first: number, last: number]> {
  const slice = sliceOf(bench);
  const url = await bench.database('bench_horizon');
  try {
    await using service = await bench.service(url);
    await wholeLives(url, [service.port], 16, 4_000);
    const sql = postgres(url, { max: 1 });
    const holder = postgres(url, { max: 1 });
    if (held) {
      await holder.unsafe('begin transaction isolation level repeatable read');
      await holder.unsafe('select count(*) from emails');
    }
    bench.say(
      `Whole lives for ${seconds} s, ${held ? 'an old transaction held' : 'nobody holding anything'} …`,
    );
    const send = preparePost(service.port, '/v1/emails', TEST_KEY, EMAIL);
    const begin = Date.now();
    while (Date.now() < begin + seconds * 1_000) await allAccepted(send, CONNECTIONS, STRETCH);
    const ended = await sql.unsafe<{ slice: number; n: number }[]>(ENDED, [new Date(begin), slice]);
    const at = (index: number) => (ended.find((one) => one.slice === index)?.n ?? 0) / slice;
    const [left] = await sql<{ n: number }[]>`
      select count(*)::int as n from email_due`;
    const what = held ? 'under a held transaction' : 'with nothing held';
    bench.remark(`After ${seconds} s ${what} ${left?.n} emails were accepted and not yet at their end.`);
    bench.remark(await printSizes(sql, `The tables after ${seconds} s ${what}`));
    if (held) await holder.unsafe('rollback');
    await Promise.all([holder.end(), sql.end()]);
    return [at(0), at(Math.floor(seconds / slice) - 1)];
  } finally {
    await bench.drop('bench_horizon');
  }
}

/**
 * The effect on lives, over time, of a transaction that is held open and keeps every dead row from being
 * removed.
 */
export const horizon: Section = {
  name: 'horizon',
  async run(bench) {
    const { freeSeconds, holdSeconds } = bench.scale;
    const slice = `${sliceOf(bench)} s`;
    const [freeFirst, freeLast] = await loadFor(bench, false, freeSeconds);
    const [heldFirst, heldLast] = await loadFor(bench, true, holdSeconds);
    bench.remark(
      `Under a transaction held for ${holdSeconds} s the last ${slice} ran at ${(heldLast / freeLast).toFixed(2)} of the last ${slice} of ${freeSeconds} s without one.`,
    );
    const row = (what: string, perSecond: number): Row => ({ what: `(h) whole lives, ${what}`, perSecond });
    return [
      row(`nothing held, first ${slice}`, freeFirst),
      row(`nothing held, last ${slice} of ${freeSeconds}`, freeLast),
      row(`an old transaction held, first ${slice}`, heldFirst),
      row(`an old transaction held, last ${slice} of ${holdSeconds}`, heldLast),
    ];
  },
};
