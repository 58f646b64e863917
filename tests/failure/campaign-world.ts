import postgres from 'postgres';
import { freePort } from '../../src/ops/torture/free-port.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { manyPeople } from '../support/campaign-people.ts';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { eventually, momentOf } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { LIVE_KEY, type Service, startService } from '../support/service.ts';

export interface CampaignWorldOptions {
  readonly instances: number;
  /** A separate PostgreSQL, which can be stopped. */
  readonly ownServer?: boolean;
  /** The mail server that everything is sent to; it is captured otherwise. */
  readonly sinkPort?: number | undefined;
  /** More of the environment. */
  readonly env?: Readonly<Record<string, string>>;
}

interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on what is really there.
  readonly data: any;
}

const SAID = { from: 'news@sender.example', subject: 'Hello', html: '<p>Hi {{ contact.firstName }}</p>' };
/** Requests go on for so long while instances start and PostgreSQL recovers. */
const PATIENCE_MS = 60_000;

/** Instances of the service on one database, which can be killed, stopped and asked. */
export class CampaignWorld implements AsyncDisposable {
  readonly #services: Service[] = [];
  readonly #stack: AsyncDisposableStack;
  #next = 0;

  private constructor(
    readonly url: string,
    readonly database: Database,
    private readonly cluster: Cluster | null,
    private readonly ports: readonly number[],
    private readonly start: (port: number) => Promise<Service>,
    stack: AsyncDisposableStack,
  ) {
    this.#stack = stack;
  }

  static async make({
    instances,
    ownServer = false,
    sinkPort,
    env = {},
  }: CampaignWorldOptions): Promise<CampaignWorld> {
    await using stack = new AsyncDisposableStack();
    const [url, cluster] = await databaseOf(ownServer, stack);
    const ports = await Promise.all(Array.from({ length: instances }, freePort));
    const capturing = {
      DATABASE_URL: url,
      SECRET_KEY: 'only-for-tests-only-for-tests-only',
      DEFAULT_PLAN: 'unlimited',
      RATE_LIMIT_PER_IP: '0',
      RATE_LIMIT_PER_KEY: '0',
      ...env,
    };
    const sending: Record<string, string> =
      sinkPort === undefined
        ? {}
        : { TRANSPORT: 'smtp', SMTP_URL: `smtp://127.0.0.1:${sinkPort}?tls=none`, EHLO_NAME: 'test.example' };
    const first = await startService({ port: ports[0] as number, env: capturing });
    const database = await openDatabase({ url, dataDir: '' });
    stack.defer(() => database.close());
    const start = (port: number) => startService({ port, env: { ...capturing, ...sending } });
    const world = new CampaignWorld(url, database, cluster, ports, start, stack.move());
    world.#services.push(first);
    // A reserved name verifies while mail is captured, and stays verified.
    await world.ask('POST', '/v1/domains', { name: 'sender.example' });
    if (sinkPort !== undefined) {
      await first.stop();
      world.#services[0] = await start(ports[0] as number);
    }
    for (const port of ports.slice(1)) world.#services.push(await start(port));
    return world;
  }

  /** Asks one instance after the other, until one answers anything but that it cannot now. */
  readonly ask = (method: string, path: string, body?: object): Promise<Answered> =>
    eventually(
      `an answer to ${method} ${path}`,
      async () => {
        const port = this.ports[this.#next++ % this.#services.length] as number;
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
          method,
          headers: { authorization: `Bearer ${LIVE_KEY}`, 'content-type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
          signal: AbortSignal.timeout(10_000),
        });
        if (answer.status >= 500) return undefined;
        const { data, error } = (await answer.json()) as { readonly data: unknown; readonly error: unknown };
        return { status: answer.status, data: data ?? error };
      },
      { withinMs: PATIENCE_MS, everyMs: 50 },
    );

  /** An audience of so many people, and a campaign to it; answers the campaign's id. */
  async campaign(recipients: number, more: object = {}): Promise<string> {
    const [workspace] = await this.database.query<{ id: string }>('select id from workspaces');
    const audienceId = await manyPeople(this.database, workspace?.id ?? '', recipients);
    const made = await this.ask('POST', '/v1/campaigns', { name: 'Disturbed', audienceId, ...SAID, ...more });
    if (made.status !== 201) throw new Error(JSON.stringify(made));
    return made.data.id;
  }

  /** `kill -9`, and a new start. */
  async kill(index: number): Promise<void> {
    await this.#services[index]?.kill();
    this.#services[index] = await this.start(this.ports[index] as number);
  }

  /** PostgreSQL fails and comes back. */
  async stopServer(): Promise<void> {
    if (!this.cluster) throw new Error('The server is not its own.');
    await this.cluster.strike();
    await momentOf(Date.now() + 500);
    await this.cluster.up();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const service of this.#services) await service[Symbol.asyncDispose]();
    await this.#stack.disposeAsync();
  }
}

async function databaseOf(
  ownServer: boolean,
  stack: AsyncDisposableStack,
): Promise<readonly [string, Cluster | null]> {
  if (!ownServer) return [stack.use(await createTestDatabase()).url, null];
  const cluster = await startCluster();
  stack.defer(() => cluster.stop());
  const sql = postgres(cluster.url, { max: 1, onnotice: () => {} });
  await sql.unsafe('create database campaign');
  await sql.end();
  const url = new URL(cluster.url);
  url.pathname = '/campaign';
  return [url.href, cluster];
}
