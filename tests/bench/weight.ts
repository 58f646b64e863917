import postgres from 'postgres';
import { LIVE_KEY, TEST_KEY } from '../support/service.ts';
import { allAccepted, EMAIL, IN_A_WEEK } from './accepted.ts';
import { openCountingRelay } from './counting-relay.ts';
import type { Weighed } from './figures.ts';
import { allSent, LIVE_EMAIL, liveEnvironment, openSink } from './live.ts';
import { wholeLives } from './lives.ts';
import { preparePost } from './load.ts';
import type { Section, Workbench } from './workbench.ts';

interface Reading extends Weighed {
  readonly inserted: number;
  readonly updated: number;
  readonly deleted: number;
}

const WEIGHT = `select (pg_current_wal_insert_lsn() - '0/0')::float8 as wal,
  sum(pg_total_relation_size(c.oid))::float8 as tables,
  sum(s.n_tup_ins)::float8 as inserted, sum(s.n_tup_upd)::float8 as updated, sum(s.n_tup_del)::float8 as deleted
from pg_class c join pg_stat_user_tables s on s.relid = c.oid
where c.relkind = 'r' and c.relname ~ '^(email|usage|instances|idempotency)'`;

/** Live email costs a hundred times as much as the rest. */
const LIVE_SHARE = 8;

/**
 * A service and PostgreSQL with something in between that counts, and the connection that reads what was
 * written.
 */
async function openScales(bench: Workbench, url: string, env: Record<string, string> = {}) {
  const stack = new AsyncDisposableStack();
  const toDatabase = stack.use(await openCountingRelay(Number(new URL(url).port)));
  const through = new URL(url);
  through.port = String(toDatabase.port);
  const service = stack.use(await bench.service(through.href, env));
  const toService = stack.use(await openCountingRelay(service.port));
  const sql = stack.adopt(postgres(url, { max: 1 }), (own) => own.end());
  const read = async (): Promise<Reading> => {
    // Backends hand their counts in when they are idle, at the latest after a second.
    await Bun.sleep(1_500);
    const [row] = await sql.unsafe<Reading[]>(WEIGHT);
    return { ...(row as Reading), http: toService.passed, database: toDatabase.passed };
  };
  return {
    port: toService.port,
    /**
     * Pages are written whole to the WAL when they are first touched after a checkpoint: it comes before the
     * warming up.
     */
    checkpoint: () => sql.unsafe('checkpoint'),
    async weigh(emails: number, work: () => Promise<unknown>): Promise<Reading> {
      const before = await read();
      await work();
      const after = await read();
      const names = Object.keys(before) as (keyof Reading)[];
      const each = names.map((key) => [key, (after[key] - before[key]) / emails]);
      return Object.fromEntries(each) as unknown as Reading;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/**
 * The octets of an email: WAL of the whole server, growth of the tables of emails, and traffic between the
 * processes.
 */
export const weight: Section = {
  name: 'weight',
  async run(bench) {
    const count = bench.scale.emails;
    const { life, accepted } = await weighTestMail(bench, count);
    const live = await weighLiveMail(bench, Math.max(500, Math.round(count / LIVE_SHARE)));
    const weighed = { life, accepted, live };
    const figures = ({ wal, tables, http, database }: Reading): Weighed => ({ wal, tables, http, database });
    bench.keep({
      weights: { life: figures(life), accepted: figures(accepted), live: figures(live) },
    });
    const line = (what: string, reading: Reading) => {
      const { wal, tables, http, database, inserted, updated, deleted } = reading;
      const octets = [wal, tables, http, database].map((value) => value.toFixed(0));
      const rows = [inserted, updated, deleted].map((value) => value.toFixed(2));
      return `| ${[what, ...octets, ...rows].join(' | ')} |`;
    };
    bench.remark(
      [
        `What an email of ${JSON.stringify(EMAIL).length} octets writes and sends, a live one of ${JSON.stringify(LIVE_EMAIL).length}:`,
        '',
        '| an email | WAL octets | octets of tables | by HTTP | with PostgreSQL | rows inserted | updated | deleted |',
        '|---|---|---|---|---|---|---|---|',
        line('a whole life', weighed.life),
        line('accepted, scheduled', weighed.accepted),
        line('live, to an SMTP sink', weighed.live),
      ].join('\n'),
    );
    return [];
  },
};

async function weighTestMail(bench: Workbench, count: number) {
  const url = await bench.database('bench_weight');
  await using scales = await openScales(bench, url);
  const { port } = scales;
  await scales.checkpoint();
  await wholeLives(url, [port], 16, 4_000);
  const accept = preparePost(port, '/v1/emails', TEST_KEY, { ...EMAIL, scheduledAt: IN_A_WEEK });
  bench.say(`Weighing ${count} lives and as many scheduled emails …`);
  return {
    life: await scales.weigh(count, () => wholeLives(url, [port], 128, count)),
    accepted: await scales.weigh(count, () => allAccepted(accept, 128, count)),
  };
}

async function weighLiveMail(bench: Workbench, count: number): Promise<Reading> {
  await using sink = await openSink();
  const url = await bench.database('bench_weight_live');
  await using scales = await openScales(bench, url, await liveEnvironment(bench, url, sink.port));
  const send = preparePost(scales.port, '/v1/emails', LIVE_KEY, LIVE_EMAIL);
  await scales.checkpoint();
  await allSent(url, send, 500);
  bench.say(`Weighing ${count} live emails …`);
  return await scales.weigh(count, () => allSent(url, send, count));
}
