import { startSink } from '../integration/transport/smtp-sink.ts';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { LIVE_KEY, type Service } from '../support/service.ts';
import { LIVE_EMAIL, liveEnvironment } from './live.ts';
import { onlooker } from './lives.ts';
import type { Section, Workbench } from './workbench.ts';

const EMAILS = 20;
const ROUNDS = 12;

/**
 * The time from `kill -9` of an instance to the first attempt of what it had accepted and not begun, at
 * another one, by the database's clock. The one that is killed has one slot, in front of a server that
 * answers nothing.
 */
export const takeUp: Section = {
  name: 'take-up',
  async run(bench) {
    const url = await bench.database('bench_take_up');
    await using silent = await startSink({ onData: (stream) => void stream.resume() });
    await using sink = await startSink();
    const env = { ...(await liveEnvironment(bench, url, sink.port)), TRANSPORT: 'smtp' };
    await using _ = await bench.service(url, { ...env, SENDING_SLOTS: '64' });
    const late: number[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      bench.say(`Killing instance ${round} of ${ROUNDS} …`);
      late.push(
        ...(await oneKill(bench, url, { ...env, SMTP_URL: `smtp://127.0.0.1:${silent.port}?tls=none` })),
      );
    }
    const sorted = late.toSorted((a, b) => a - b);
    const at = (share: number): number => sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
    return [
      {
        what: '(i) from kill -9 to the first attempt at another instance, longest',
        amount: { value: at(1), unit: 'ms' },
        p50: at(0.5),
        p99: at(0.99),
      },
    ];
  },
};

async function oneKill(
  bench: Workbench,
  url: string,
  env: Record<string, string>,
): Promise<readonly number[]> {
  const sql = onlooker(url);
  const dying = await bench.service(url, { ...env, SENDING_SLOTS: '1' });
  await eventually('both instances have an epoch', async () => {
    const [row] = await sql`select count(*)::integer as n from service_instances where epoch is not null`;
    return row?.n === 2 || undefined;
  });
  const ids = await post(dying);
  const [before] = await sql<
    { at: number }[]
  >`select (extract(epoch from clock_timestamp()) * 1000)::float8 as at`;
  await dying.kill();
  const killedAt = before?.at ?? 0;
  const begun = await eventually('all are begun', async () => {
    const rows = await sql<
      { at: number }[]
    >`select (extract(epoch from min(at)) * 1000)::float8 as at from email_turns
      where email_id = any(${[...ids]}) and revision > 1 group by email_id`;
    return rows.length === ids.length ? rows : undefined;
  });
  await sql.end();
  // One was begun before.
  return begun.flatMap(({ at }) => (at > killedAt ? [at - killedAt] : []));
}

async function post({ url }: Service): Promise<readonly string[]> {
  const client = createClient(url, LIVE_KEY);
  const replies = await Promise.all(
    Array.from({ length: EMAILS }, () => client.post('/v1/emails', LIVE_EMAIL)),
  );
  for (const { status } of replies) if (status !== 202) throw new Error(`An email was answered ${status}.`);
  return replies.map(({ body }) => body.data.id);
}
