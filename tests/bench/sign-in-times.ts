import { Passwords } from '../../src/http/auth/passwords/passwords.ts';
import { PASSWORD } from '../contract/a-browser.ts';
import { ask } from '../contract/ask.ts';
import { startRealService } from '../contract/real-service.ts';

// `bun tests/bench/sign-in-times.ts`: does the time of a refused sign-in tell whether the account exists? In
// turns, so that a machine that slows down slows both. Each attempt comes from another address, and is for
// another account.

const EACH = 200;
// An empty DATABASE_URL is the embedded database.
const service = await startRealService({ DATABASE_URL: '', TRUST_PROXY: '1' });
const { database } = service.service;
const hash = await new Passwords().hash(PASSWORD);
await database.query(
  `insert into accounts (id, email, email_key, name, password, created_at)
   select 'acc_' || n, 'known' || n || '@acme.example', 'known' || n || '@acme.example', 'Known', $1, now()
   from generate_series(1, ${EACH}) n`,
  [hash],
);

async function timeOf(email: string, client: number): Promise<number> {
  const started = performance.now();
  const { status } = await ask(service.url, {
    method: 'POST',
    path: '/app/api/session',
    body: { email, password: 'not this password' },
    headers: {
      origin: 'http://localhost:3000',
      'x-forwarded-for': `10.0.${client >> 8}.${client & 255}`,
    },
  });
  if (status !== 401) throw new Error(`Expected 401, got ${status}.`);
  return performance.now() - started;
}

const times: { known: number[]; unknown: number[] } = { known: [], unknown: [] };
await timeOf('warm@acme.example', 65_000);
for (let n = 1; n <= EACH; n++) {
  const known = async () => times.known.push(await timeOf(`known${n}@acme.example`, 2 * n));
  const unknown = async () => times.unknown.push(await timeOf(`nobody${n}@acme.example`, 2 * n + 1));
  for (const one of n % 2 === 0 ? [known, unknown] : [unknown, known]) await one();
}
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const [known, unknown] = [mean(times.known), mean(times.unknown)];
const difference = Math.abs(known - unknown) / known;
console.log(
  `known ${known.toFixed(2)} ms, unknown ${unknown.toFixed(2)} ms, apart ${(difference * 100).toFixed(2)} %`,
);
await service[Symbol.asyncDispose]();
process.exit(difference < 0.05 ? 0 : 1);
