import postgres from 'postgres';
import { TEST_KEY } from '../support/service.ts';
import { EMAIL } from './emails.ts';
import { load, preparePost } from './load.ts';

/** Sends emails over all the ports, and waits until every one is delivered; lives a second. */
export async function livesPerSecond(
  url: string,
  ports: readonly number[],
  connections: number,
  count: number,
): Promise<number> {
  const sql = postgres(url, { max: 1 });
  const delivered = async (): Promise<number> =>
    (await sql<{ n: number }[]>`select count(*)::int as n from emails where state = 'delivered'`)[0]?.n ?? 0;
  const each = Math.floor(count / ports.length);
  const before = await delivered();
  const start = performance.now();
  await Promise.all(
    ports.map((port) =>
      load(preparePost(port, '/v1/emails', TEST_KEY, EMAIL), Math.floor(connections / ports.length), each),
    ),
  );
  while ((await delivered()) < before + each * ports.length);
  const seconds = (performance.now() - start) / 1_000;
  await sql.end();
  return (each * ports.length) / seconds;
}
