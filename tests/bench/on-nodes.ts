import { startService, TEST_KEY } from '../support/service.ts';

interface Compared {
  readonly plain: string;
  readonly spread: string;
  readonly env: Readonly<Record<string, string>>;
  /** The length of each turn. */
  readonly seconds: number;
}

const CLIENTS = 16;
const BATCH = 100;
const TURNS = 2;
/** The first seconds are not counted: connections are opened and code is compiled. */
const WARM_SECONDS = 3;

/** Accepts test mail on a database of one server and on a distributed one, in turns. */
export async function throughput({ plain, spread, env, seconds }: Compared): Promise<readonly string[]> {
  const rates = { plain: [] as number[], spread: [] as number[] };
  for (let turn = 0; turn < TURNS; turn++)
    for (const [name, url] of Object.entries({ plain, spread }) as ['plain' | 'spread', string][])
      rates[name].push(await rateOn({ ...env, DATABASE_URL: url }, seconds));
  const told = (list: readonly number[]): string => list.map((rate) => Math.round(rate)).join(', ');
  const sum = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0);
  return [
    `Accepted a second on one server: ${told(rates.plain)}; on nodes: ${told(rates.spread)}; ${(sum(rates.spread) / sum(rates.plain)).toFixed(2)} of it.`,
  ];
}

async function rateOn(env: Readonly<Record<string, string>>, seconds: number): Promise<number> {
  const service = await startService({ env });
  try {
    const ask = (key: string, path: string, body: object) =>
      fetch(`${service.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const email = { from: 'a@sender.example', to: 'delivered@simulator.test', subject: 's', text: 'x' };
    const body = { emails: Array.from({ length: BATCH }, () => email) };
    let [accepted, isCounted, isGoing] = [0, false, true];
    const client = async (): Promise<void> => {
      while (isGoing) {
        const answer = await ask(TEST_KEY, '/v1/emails/batch', body);
        await answer.arrayBuffer();
        if (answer.ok && isCounted) accepted += BATCH;
      }
    };
    const clients = Array.from({ length: CLIENTS }, client);
    await Bun.sleep(WARM_SECONDS * 1_000);
    isCounted = true;
    const begin = performance.now();
    await Bun.sleep(seconds * 1_000);
    isCounted = false;
    const took = performance.now() - begin;
    isGoing = false;
    await Promise.all(clients);
    return accepted / (took / 1_000);
  } finally {
    await service[Symbol.asyncDispose]();
  }
}
