import { freePort } from '../../src/ops/torture/free-port.ts';
import { eventually } from '../support/eventually.ts';
import { type Service, startService } from '../support/service.ts';

/** Longer than some looks of the balancer, also on a busy machine. */
const DRAIN_SECONDS = 3;
/** Enough for a look at whether anything is accepted. */
const SOME = 50;

/** Sends each request to an instance that was ready for requests when it was asked last. */
class Balancer {
  #ready: readonly string[] = [];
  #turn = 0;
  #going = true;

  constructor(private readonly urls: readonly string[]) {}

  async look(): Promise<void> {
    const found = await Promise.all(
      this.urls.map(async (url) => {
        const answer = await fetch(`${url}/ready`).catch(() => null);
        const body = (await answer?.json().catch(() => null)) as { data?: { roles?: string[] } } | null;
        // A version before roles says none: it does everything.
        return answer?.ok && (body?.data?.roles?.includes('http') ?? true) ? [url] : [];
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

/** Instances that are replaced, and the requests that go on meanwhile. */
export interface Rolling {
  readonly env: Record<string, string>;
  /** The roles of each instance; null: all. */
  readonly instances: readonly (string | null)[];
  /** The places of those that are replaced, one after the other. */
  readonly replaced: readonly number[];
  readonly clients: number;
  /** The number of emails accepted before the next instance is replaced. */
  readonly some?: number;
  /** The first program of the instances; the built one replaces it, or `newer`. */
  readonly older?: readonly string[];
  readonly newer?: readonly string[];
  /** Asks whatever is ready for something, again and again; answers the status. */
  request(next: () => string): Promise<number | string>;
  /** Called once all are as they are in the end, before the load ends. */
  replacedAll?(instances: readonly Service[]): void;
  /** Waits until everything that was accepted has come to its end. */
  settled?(): Promise<void>;
}

/** A request to accept an email, without a second try. */
export const sending =
  (key: string, email: object, accepted: (id: string) => void = () => {}): Rolling['request'] =>
  (next) =>
    fetch(`${next()}/v1/emails`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(email),
    }).then(
      async (answer) => {
        const { data } = (await answer.json()) as { data?: { id: string } };
        if (answer.status === 202 && data) accepted(data.id);
        return answer.status;
      },
      (error) => String(error),
    );

/**
 * Replaces instances behind a load balancer, which asks each of them whether it is ready. Answers how often
 * each status was heard.
 */
export async function roll(rolling: Rolling): Promise<ReadonlyMap<number | string, number>> {
  const { env, replaced, clients, some = SOME, older, newer, settled } = rolling;
  const ports = await Promise.all(rolling.instances.map(() => freePort()));
  const start = (place: number, command?: readonly string[]): Promise<Service> => {
    const only = rolling.instances[place];
    return startService({
      env: { ...env, DRAIN_SECONDS: String(DRAIN_SECONDS) },
      port: ports[place] as number,
      args: only ? ['--only', only] : [],
      ...(command && { command }),
    });
  };
  const instances: Service[] = [];
  for (const place of rolling.instances.keys()) instances.push(await start(place, older));
  const balancer = new Balancer(ports.map((port) => `http://127.0.0.1:${port}`));
  await balancer.look();
  const following = balancer.follow();
  const statuses = new Map<number | string, number>();
  let isOver = false;
  const client = async (): Promise<void> => {
    while (!isOver) {
      const status = await rolling.request(() => balancer.next);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  const asking = Array.from({ length: clients }, client);
  const load = async (): Promise<void> => {
    const before = statuses.get(202) ?? 0;
    await eventually('some load', async () => (statuses.get(202) ?? 0) > before + some || undefined);
  };
  try {
    for (const place of replaced) {
      await load();
      const stopped = instances[place]?.stop();
      // It says so, and answers all the same; what comes next on this connection is to come to another.
      const url = `http://127.0.0.1:${ports[place]}`;
      await eventually(
        'the end of readiness',
        async () => (await fetch(`${url}/ready`)).status === 503 || undefined,
      );
      const health = await fetch(`${url}/health`);
      const heard = [health.status, health.headers.get('connection'), await stopped].join();
      if (heard !== '200,close,0') throw new Error(`status, connection and exit code were ${heard}`);
      instances[place] = await start(place, newer);
      await balancer.look();
    }
    rolling.replacedAll?.(instances);
    await load();
    isOver = true;
    await Promise.all(asking);
    await settled?.();
  } finally {
    isOver = true;
    await Promise.all(asking);
    balancer.stop();
    await following;
    for (const instance of instances) await instance[Symbol.asyncDispose]();
  }
  return statuses;
}
