import { issueKey } from '../../src/accounts/api-keys/issue.ts';
import { listen } from '../../src/http/listen/listen.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import type { Clock } from '../../src/platform/time/clock.ts';
import { openService, type Service } from '../../src/service.ts';
import { type Client, createClient } from './client.ts';
import { eventually } from './eventually.ts';
import { createServedDatabase } from './postgres.ts';

/** One POST that a receiver got. */
export interface Received {
  readonly path: string;
  readonly signature: string;
  readonly webhookId: string;
  readonly body: string;
  readonly event: { readonly id: string; readonly type: string; readonly livemode: boolean };
}

/** A receiver of webhooks in this process. `answer` may be changed at any time. */
export interface Receiver extends Disposable {
  readonly url: string;
  readonly received: Received[];
  answer: (request: Received) => Response | Promise<Response>;
  /** The POSTs so far, once there are as many. */
  until(count: number): Promise<readonly Received[]>;
}

/** With a certificate it is reached over TLS. */
export function openReceiver(tls?: { readonly cert: string; readonly key: string }): Receiver {
  const received: Received[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    ...(tls && { tls }),
    async fetch(request) {
      const body = await request.text();
      const one = {
        path: new URL(request.url).pathname,
        signature: request.headers.get('x-svc-signature') ?? '',
        webhookId: request.headers.get('x-svc-webhook-id') ?? '',
        body,
        event: JSON.parse(body),
      };
      received.push(one);
      return receiver.answer(one);
    },
  });
  const receiver: Receiver = {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${server.port}/hook`,
    received,
    answer: () => new Response('ok'),
    until: (count) =>
      eventually(`${count} posts`, async () => (received.length >= count ? received : undefined), {
        everyMs: 5,
      }),
    [Symbol.dispose]: () => void server.stop(true),
  };
  return receiver;
}

/** A service in this process with one workspace; its clock is not started: the test wakes it. */
export interface World extends AsyncDisposable {
  readonly service: Service;
  readonly live: Client;
  readonly test: Client;
  readonly url: string;
  readonly databaseUrl: string;
  /** Sends a test email; two events follow (`sent`, `delivered`), or what the recipient chooses. */
  send(to?: string): Promise<string>;
  /** The same, answering once it is delivered: its events have happened then, and their deliveries exist. */
  sendUntilDelivered(): Promise<string>;
}

interface WorldOptions {
  readonly clock?: Clock;
  /** More of the environment. */
  readonly env?: Record<string, string>;
  /** Of another world that goes on using it. */
  readonly databaseUrl?: string;
}

const ENV = {
  HOST: '127.0.0.1',
  SECRET_KEY: 's'.repeat(32),
  TEST_SENDS_PER_DAY: '0',
  RATE_LIMIT_PER_IP: '0',
  RATE_LIMIT_PER_KEY: '0',
};

export async function openWorld({ clock, env, databaseUrl }: WorldOptions = {}): Promise<World> {
  const made = databaseUrl === undefined ? await createServedDatabase() : null;
  const url = databaseUrl ?? made?.url ?? '';
  const loaded = loadConfig({ ...ENV, DATABASE_URL: url, ...env });
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'));
  const logger = createLogger({ level: 'silent', pretty: false });
  const service = await openService({ config: loaded.config, logger, ...(clock ? { clock } : {}) });
  const { database, engine } = service;
  const workspaceId = mintId('ws', Date.now());
  await database.query(
    `insert into workspaces (id, name, plan, created_at) values ($1, 'Test', 'growth', now())`,
    [workspaceId],
  );
  const keyOf = (livemode: boolean) =>
    issueKey(engine, { workspaceId, livemode, name: 'k', permissions: ['*'] }, Date.now());
  const server = listen(service.app, { hostname: '127.0.0.1', port: 0, sockets: service.inspector.sockets });
  const base = server.url.origin;
  const test = createClient(base, await keyOf(false));
  const send = async (to = 'delivered@simulator.svc.test'): Promise<string> => {
    const email = { from: 'a@acme.example', to, subject: 'A test', text: 'Hello' };
    const { status, body } = await test.post('/v1/emails', email);
    if (status !== 202) throw new Error(JSON.stringify(body));
    return body.data.id;
  };
  return {
    service,
    url: base,
    databaseUrl: url,
    live: createClient(base, await keyOf(true)),
    test,
    send,
    async sendUntilDelivered() {
      const id = await send();
      return eventually('it is delivered', async () => {
        const { body } = await test.get(`/v1/emails/${id}`);
        return body.data.status === 'delivered' ? id : undefined;
      });
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await service.stop();
      await made?.close();
    },
  };
}
