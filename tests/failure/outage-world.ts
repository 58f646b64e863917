import { expect } from 'bun:test';
import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import type { Route } from '../../src/http/request/route.ts';
import type { Told } from '../contract/ask.ts';
import { type RealService, ROUTES } from '../contract/real-service.ts';
import { eventually } from '../support/eventually.ts';
import { LivedClock, livedMsBeside } from '../support/own-time.ts';

/** An email that the simulator delivers. */
export const EMAIL = {
  from: 'shop@acme.example',
  to: 'delivered@simulator.svc.test',
  subject: 'An outage',
  text: 'It got through.',
};

const pathOf = ({ path, params = {} }: Route): string =>
  path.replace(/:(\w+)/g, (_, name: string) => {
    const spec = params[name];
    return spec && 'prefix' in spec ? `${spec.prefix}_${'0'.repeat(24)}` : 'nothing';
  });

/**
 * An answer, and how long it took of the time that this process lived through, in which the service runs too.
 */
export interface Timed extends Told {
  readonly what: string;
  readonly ms: number;
}

/**
 * Asks every endpoint of the service at once, with a key that was not used: one of the last second is known
 * without the database.
 */
export async function askEverything(service: RealService, unused: string): Promise<readonly Timed[]> {
  using clock = new LivedClock();
  return await Promise.all(
    ROUTES.map(async (route) => {
      const reply = await service.ask({ method: route.method, path: pathOf(route), key: unused });
      return { ...reply, what: `${route.method} ${route.path}`, ms: clock.ms };
    }),
  );
}

/** 503 in the envelope (which `ask` has checked), with a Retry-After, in less than 8 s. */
export function expectUnavailable(answers: readonly Timed[], withinMs = 8_000): void {
  expect(answers.length).toBeGreaterThan(20);
  for (const { what, status, headers, ms } of answers) {
    expect([what, status]).toEqual([what, 503]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(ms).toBeLessThan(withinMs);
  }
}

/**
 * Waits until reads, writes and /health all work again; answers how long that took, in lived milliseconds.
 */
export function healed(service: RealService, key: string, databaseUrl: string): Promise<number> {
  return livedMsBeside(databaseUrl, () =>
    eventually('healing', async () => {
      const answers = await Promise.all([
        service.ask({ path: '/health' }),
        service.ask({ path: '/v1/workspace', key }),
        service.ask({ method: 'POST', path: '/v1/emails', key, body: EMAIL }),
      ]);
      return answers.every(({ status }) => status < 300) ? true : undefined;
    }),
  );
}

/** Clients that each send one email after the other, again with the same key until it is acknowledged. */
export class SteadyClients {
  readonly acknowledged = new Map<string, string>();
  readonly statuses = new Map<number, number>();
  readonly #unexpected: number[] = [];
  #going = true;
  readonly #ended: Promise<unknown>;

  constructor(
    private readonly service: RealService,
    private readonly key: string,
    clients = 8,
  ) {
    this.#ended = Promise.all(Array.from({ length: clients }, () => this.#send()));
  }

  /** Resolves once so many more emails are acknowledged. */
  async progress(emails: number): Promise<void> {
    const goal = this.acknowledged.size + emails;
    await eventually(`${emails} more emails`, async () =>
      this.acknowledged.size >= goal ? true : undefined,
    );
  }

  /** Lets each client have its last email acknowledged. */
  async finish(): Promise<void> {
    this.#going = false;
    await this.#ended;
    expect(this.#unexpected).toEqual([]);
  }

  async #send(): Promise<void> {
    while (this.#going) {
      const key = randomUUID();
      const id = await eventually('an acknowledgement', () => this.#ask(key));
      this.acknowledged.set(key, id);
    }
  }

  async #ask(key: string): Promise<string | undefined> {
    const { status, body } = await this.service.ask({
      method: 'POST',
      path: '/v1/emails',
      key: this.key,
      headers: { 'idempotency-key': key },
      body: { ...EMAIL, tags: [{ name: 'try', value: key }] },
    });
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    // 409: an earlier try of this key is still on its way.
    if (![202, 409, 503].includes(status)) this.#unexpected.push(status);
    return status === 202 ? body.data.id : undefined;
  }
}

/** Every acknowledged email is there and ends delivered; what was tried has happened once. */
export async function expectNothingLost(url: string, clients: SteadyClients): Promise<void> {
  const sql = postgres(url, { max: 1 });
  try {
    const rows = await eventually('every email delivered', async () => {
      const found = await sql<{ id: string; state: string }[]>`
        select e.id, e.state from emails_now e where cardinality(e.tags) > 0`;
      return found.every(({ state }) => state === 'delivered') ? found : undefined;
    });
    expect(rows.map(({ id }) => id).sort()).toEqual([...clients.acknowledged.values()].sort());
  } finally {
    await sql.end();
  }
}
