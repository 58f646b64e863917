import postgres from 'postgres';
import { TEST_KEY } from '../support/service.ts';
import { allAccepted, EMAIL } from './accepted.ts';
import type { LoadResult } from './load.ts';
import { preparePost } from './load.ts';
import { printSizes } from './sizes.ts';
import type { Section } from './workbench.ts';

/**
 * A connection that asks whether anything is under way: by the index, or each question would read the whole
 * table.
 */
export const onlooker = (url: string): postgres.Sql =>
  postgres(url, { max: 1, connection: { enable_seqscan: false } });

/** Waits until no email is under way, or due within the hour. */
export async function atRest(sql: postgres.Sql, everyMs = 20): Promise<void> {
  const busy = async () =>
    (
      await sql<{ busy: boolean }[]>`
        select exists (select from email_due where wake_at < now() + interval '1 hour')
          or exists (
            select from instances i join emails b on b.kept_by = i.id and b.id >= i.low_water
            where not exists (select from email_turns t where t.email_id = b.id)) as busy`
    )[0]?.busy;
  while (await busy()) await Bun.sleep(everyMs);
}

/** The number of newest emails that are searched for one without a turn. */
const NEWEST = 500;

/**
 * The same as far as the newest emails tell, for those who count afterwards: looking through all that the
 * instances keep took PostgreSQL 55 ms of 12,000 lives, a tenth of what it was measured to spend on them.
 */
async function newestAtRest(sql: postgres.Sql): Promise<void> {
  const busy = async () =>
    (
      await sql<{ busy: boolean }[]>`
        select exists (select from email_due where wake_at < now() + interval '1 hour')
          or exists (
            select from (select id, kept_by from emails order by id desc limit ${NEWEST}) b
            where kept_by is not null and not exists (select from email_turns t where t.email_id = b.id)) as busy`
    )[0]?.busy;
  while (await busy()) await Bun.sleep(20);
}

/**
 * Sends emails over all the ports, and waits until every one is delivered. The rate is of lives, the rest of
 * acceptances.
 */
export async function wholeLives(
  url: string,
  ports: readonly number[],
  connections: number,
  count: number,
): Promise<LoadResult> {
  const sql = onlooker(url);
  const delivered = async (): Promise<number> =>
    (await sql<{ n: number }[]>`select count(*)::int as n from email_turns where state = 'delivered'`)[0]
      ?.n ?? 0;
  const each = Math.floor(count / ports.length);
  const before = await delivered();
  const start = performance.now();
  const [accepted] = await Promise.all(
    ports.map((port) =>
      allAccepted(
        preparePost(port, '/v1/emails', TEST_KEY, EMAIL),
        Math.floor(connections / ports.length),
        each,
      ),
    ),
  );
  await newestAtRest(sql);
  let seconds = (performance.now() - start) / 1_000;
  let lives = (await delivered()) - before;
  if (lives < each * ports.length) {
    await atRest(sql);
    seconds = (performance.now() - start) / 1_000;
    lives = (await delivered()) - before;
  }
  await sql.end();
  if (lives !== each * ports.length) throw new Error(`Of ${each * ports.length} lives ${lives} ended.`);
  return { ...(accepted as LoadResult), requests: lives, perSecond: lives / seconds };
}

/** Many whole lives on end, and what they leave on the disk. */
export const lives: Section = {
  name: 'lives',
  async run(bench) {
    const count = bench.scale.lives;
    const url = await bench.database('bench_lives');
    await using service = await bench.service(url);
    await wholeLives(url, [service.port], 16, 4_000);
    bench.say(`${count} whole lives …`);
    const spent = bench.meterCpu(service);
    const result = await wholeLives(url, [service.port], 128, count);
    const cpu = spent(count);
    const sql = postgres(url, { max: 1 });
    bench.remark(await printSizes(sql, `The tables after ${count.toLocaleString('en')} whole lives`));
    await sql.end();
    return [
      { what: `(c) ${count.toLocaleString('en')} whole lives on end, 128 connections`, ...result, cpu },
    ];
  },
};
