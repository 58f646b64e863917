import { parseArgs } from 'node:util';
import { PgBouncer } from '../failure/pgbouncer.ts';
import { startCluster } from '../support/cluster.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startService, TEST_KEY } from '../support/service.ts';
import { allAccepted, EMAIL, IN_A_WEEK } from './accepted.ts';
import { wholeLives } from './lives.ts';
import { preparePost } from './load.ts';

// The same service through PgBouncer in transaction mode and without it, turn by turn on separate databases,
// since the noise of a machine is larger than what is looked for. Debian: apt-get install pgbouncer.
//   bun tests/bench/pooled.ts [--emails 20000] [--rounds 3]

const { values } = parseArgs({
  options: {
    emails: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '3' },
  },
});
const emails = Number(values.emails);
const cluster = await startCluster();
process.env.TEST_DATABASE_URL = cluster.url;
const pooler = await PgBouncer.start(cluster.url);

interface Rates {
  readonly accepted: number;
  readonly lives: number;
}

async function measure(server: string): Promise<Rates> {
  await using made = await createTestDatabase();
  const url = new URL(server);
  url.pathname = `/${made.name}`;
  await using service = await startService({
    env: {
      DATABASE_URL: url.href,
      SECRET_KEY: 'a bench has no secrets, but needs a key',
      TEST_SENDS_PER_DAY: '0',
      RATE_LIMIT_PER_IP: '0',
      RATE_LIMIT_PER_KEY: '0',
      LOG_LEVEL: 'warn',
    },
  });
  await wholeLives(made.url, [service.port], 16, 2_000);
  const request = preparePost(service.port, '/v1/emails', TEST_KEY, { ...EMAIL, scheduledAt: IN_A_WEEK });
  const accepted = await allAccepted(request, 64, emails);
  const lives = await wholeLives(made.url, [service.port], 64, emails);
  return { accepted: accepted.perSecond, lives: lives.perSecond };
}

const middle = (of: readonly number[]): number =>
  of.toSorted((a, b) => a - b)[Math.floor((of.length - 1) / 2)] ?? 0;

try {
  const rates: Record<'direct' | 'pooled', Rates[]> = { direct: [], pooled: [] };
  for (let round = 0; round < Number(values.rounds); round++)
    for (const way of round % 2 === 0 ? (['direct', 'pooled'] as const) : (['pooled', 'direct'] as const)) {
      const found = await measure(way === 'direct' ? cluster.url : pooler.url);
      rates[way].push(found);
      console.log(`${way}: ${found.accepted.toFixed(0)} accepted/s, ${found.lives.toFixed(0)} whole lives/s`);
    }
  for (const figure of ['accepted', 'lives'] as const) {
    const [direct, pooled] = [rates.direct, rates.pooled].map((each) =>
      middle(each.map((one) => one[figure])),
    );
    console.log(
      `${figure}: ${((pooled ?? 0) / (direct || 1)).toFixed(2)} of the direct rate, by the medians`,
    );
  }
} finally {
  await pooler.stop();
  await cluster.stop();
}
