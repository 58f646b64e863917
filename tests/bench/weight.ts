import postgres from 'postgres';
import { TEST_KEY } from '../support/service.ts';
import { allAccepted, EMAIL, IN_A_WEEK } from './accepted.ts';
import { wholeLives } from './lives.ts';
import { preparePost } from './load.ts';
import type { Section } from './workbench.ts';

interface Weight {
  readonly wal: number;
  readonly bytes: number;
  readonly inserted: number;
  readonly updated: number;
  readonly deleted: number;
}

const WEIGHT = `select pg_current_wal_insert_lsn() - '0/0' as wal, sum(pg_total_relation_size(c.oid))::float8 as bytes,
  sum(s.n_tup_ins)::float8 as inserted, sum(s.n_tup_upd)::float8 as updated, sum(s.n_tup_del)::float8 as deleted
from pg_class c join pg_stat_user_tables s on s.relid = c.oid
where c.relkind = 'r' and c.relname ~ '^(email|usage|instances|idempotency)'`;

/** What an email writes: WAL of the whole server, and what the tables of emails grow by. */
export const weight: Section = {
  name: 'weight',
  async run(bench) {
    const url = await bench.database('bench_weight');
    await using service = await bench.service(url);
    const count = bench.scale.emails;
    const sql = postgres(url, { max: 1 });
    const read = async (): Promise<Weight> => {
      // Backends hand their counts in when they are idle, at the latest after a second.
      await Bun.sleep(1_500);
      const [row] = await sql.unsafe<{ wal: string }[]>(WEIGHT);
      return { ...row, wal: Number(row?.wal) } as unknown as Weight;
    };
    const weigh = async (what: string, work: () => Promise<unknown>): Promise<string> => {
      const before = await read();
      await work();
      const after = await read();
      const each = (name: keyof Weight) => (after[name] - before[name]) / count;
      return `| ${what} | ${each('wal').toFixed(0)} | ${each('bytes').toFixed(0)} | ${each('inserted').toFixed(2)} | ${each('updated').toFixed(2)} | ${each('deleted').toFixed(2)} |`;
    };
    // Pages are written whole to the WAL when they are first touched after a checkpoint: it comes before the warming up.
    await sql.unsafe('checkpoint');
    await wholeLives(url, [service.port], 16, 4_000);
    const accept = preparePost(service.port, '/v1/emails', TEST_KEY, { ...EMAIL, scheduledAt: IN_A_WEEK });
    bench.say(`Weighing ${count} lives and as many scheduled emails …`);
    const rows = [
      await weigh('a whole life', () => wholeLives(url, [service.port], 128, count)),
      await weigh('accepted, scheduled', () => allAccepted(accept, 128, count)),
    ];
    await sql.end();
    bench.remark(
      [
        `What an email of ${JSON.stringify(EMAIL).length} octets writes:`,
        '',
        '| an email | WAL octets | octets of tables | rows inserted | updated | deleted |',
        '|---|---|---|---|---|---|',
        ...rows,
      ].join('\n'),
    );
    return [];
  },
};
