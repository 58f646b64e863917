import { expect, test } from 'bun:test';
import { freePort } from '../../src/chaos/free-port.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type Service, startService, TEST_KEY } from '../support/service.ts';
import { EMAIL } from './outage-world.ts';

// Two instances behind a load balancer, which asks each of them whether it is ready, are replaced one after the other under load.

const CLIENTS = 8;
/** Longer than some looks of the balancer, also on a busy machine. */
const DRAIN_SECONDS = 3;

/** Sends each request to an instance that was ready when it was asked last. */
class Balancer {
  #ready: readonly string[] = [];
  #turn = 0;
  #going = true;

  constructor(private readonly urls: readonly string[]) {}

  async look(): Promise<void> {
    const found = await Promise.all(
      this.urls.map(async (url) => {
        const answer = await fetch(`${url}/ready`).catch(() => null);
        await answer?.arrayBuffer();
        return answer?.ok ? [url] : [];
      }),
    );
    this.#ready = found.flat();
  }

  async follow(): Promise<void> {
    while (this.#going) await this.look();
  }

  stop(): void {
    this.#going = false;
  }

  get next(): string {
    return this.#ready[this.#turn++ % this.#ready.length] ?? 'http://nobody.invalid';
  }
}

test('instances that are replaced one after the other under load refuse nobody', async () => {
  await using database = await createTestDatabase();
  const env = {
    DATABASE_URL: database.url,
    SECRET_KEY: 'only-for-tests-only-for-tests-only',
    RATE_LIMIT_PER_IP: '0',
    RATE_LIMIT_PER_KEY: '0',
    TEST_SENDS_PER_DAY: '0',
    DRAIN_SECONDS: String(DRAIN_SECONDS),
    LOG_LEVEL: 'warn',
  };
  const ports = [await freePort(), await freePort()];
  const start = (port: number): Promise<Service> => startService({ env, port });
  const instances = [await start(ports[0] as number), await start(ports[1] as number)];
  const balancer = new Balancer(ports.map((port) => `http://127.0.0.1:${port}`));
  await balancer.look();
  const following = balancer.follow();
  const statuses = new Map<number | string, number>();
  let isOver = false;
  const client = async (): Promise<void> => {
    while (!isOver) {
      const status = await fetch(`${balancer.next}/v1/emails`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(EMAIL),
      }).then(
        async (answer) => {
          await answer.arrayBuffer();
          return answer.status;
        },
        (error) => String(error),
      );
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  try {
    for (const [place, port] of ports.entries()) {
      const accepted = statuses.get(202) ?? 0;
      await eventually('some load', async () =>
        (statuses.get(202) ?? 0) > accepted + 50 ? true : undefined,
      );
      const stopped = instances[place]?.stop();
      // It says so, and answers all the same; what comes next on this connection is to come to another.
      const url = `http://127.0.0.1:${port}`;
      await eventually('the end of readiness', async () =>
        (await fetch(`${url}/ready`)).status === 503 ? true : undefined,
      );
      const health = await fetch(`${url}/health`);
      expect([health.status, health.headers.get('connection')]).toEqual([200, 'close']);
      expect(await stopped).toBe(0);
      instances[place] = await start(port);
      await balancer.look();
    }
  } finally {
    isOver = true;
    await Promise.all(clients);
    balancer.stop();
    await following;
    for (const instance of instances) await instance[Symbol.asyncDispose]();
  }
  expect([...statuses.keys()]).toEqual([202]);
});
