import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { issueKey } from '../../src/accounts/api-keys/issue.ts';
import { ensureFirstWorkspace } from '../../src/accounts/workspace/commands.ts';
import { listen } from '../../src/http/listen/listen.ts';
import type { RequestTimeouts } from '../../src/http/request/pipeline.ts';
import { RelayTransport } from '../../src/mail/transport/smtp/relay.ts';
import type { Transport } from '../../src/mail/transport/transport.ts';
import { startOfDay } from '../../src/mail/transport/warm-up.ts';
import type { BodyLimits } from '../../src/platform/bodies/body-store.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { createSigner, type Signer } from '../../src/platform/crypto/signer.ts';
import { type Clock, DAY_MS } from '../../src/platform/time/clock.ts';
import type { AttemptSchedule } from '../../src/sending/emails/accept/attempt-schedule.ts';
import type { LiveLimits } from '../../src/sending/emails/transports/limits.ts';
import { openService, type Service } from '../../src/service.ts';
import { type Client, createClient } from './client.ts';
import { layEmbedded } from './embedded.ts';
import { eventually } from './eventually.ts';
import { poolParts } from './pool-parts.ts';
import { createServedDatabase } from './postgres.ts';

/** The secret that every service of these tests signs with. */
const SECRET = 'only-for-tests-only-for-tests-only';

/** The speed of a machine is not what is shown, so a request may take as long as it does. */
export const PATIENT: RequestTimeouts = { workMs: 600_000, bodyMs: 600_000 };

/** A wall clock that runs, and can be moved ahead and stopped. */
class MovedClock implements Clock {
  ahead = 0;
  #stoppedAt: number | null = null;
  now = (): number => (this.#stoppedAt ?? Date.now()) + this.ahead;
  monotonic = (): number => performance.now();

  stop(): Disposable {
    const stoppedAt = Date.now();
    this.#stoppedAt = stoppedAt;
    return {
      [Symbol.dispose]: () => {
        this.ahead += stoppedAt - Date.now();
        this.#stoppedAt = null;
      },
    };
  }
}

/** The whole service in this process, with a verified domain, and a way out of the test's own. */
export interface LiveService extends AsyncDisposable {
  readonly url: string;
  readonly service: Service;
  readonly live: Client;
  readonly test: Client;
  readonly signer: Signer;
  readonly domainId: string;
  /** Empty for the embedded database. */
  readonly databaseUrl: string;
  readonly keys: { readonly live: string; readonly test: string };
  logged(): string;
  /**
   * Sends from the verified domain; `more` is laid over a plain text email to ada@example.com. Answers the
   * id.
   */
  send(more?: object): Promise<string>;
  /** The email, as soon as `is` holds of it. */
  until(id: string, is: (email: Email) => boolean): Promise<Email>;
  /** The time of the wall clock, ISO 8601. */
  today(): string;
  /**
   * Stops the wall clock until the end of the block: a slow machine brings nothing closer then. `pass` still
   * moves it.
   */
  stopClock(): Disposable;
  /** Moves the wall clock ahead and wakes whatever is due then. */
  pass(ms: number): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on what is really there, not on what a type promises.
export type Email = any;

export interface LiveServiceOptions {
  readonly transport?: Transport;
  readonly limits?: Partial<LiveLimits>;
  readonly schedule?: Partial<AttemptSchedule>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly bodies?: Partial<BodyLimits>;
  /** Its wall clock begins at a coming noon in UTC, so that no day of it ends while a test runs. */
  readonly atNoon?: boolean;
}

/** Starts one. Without a transport, mail is captured. */
export async function startLiveService(options: LiveServiceOptions = {}): Promise<LiveService> {
  const stack = new AsyncDisposableStack();
  const isGiven = options.environment?.DATABASE_URL !== undefined;
  const database = isGiven ? null : stack.use(await createServedDatabase());
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-live-'));
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  const loaded = loadConfig({
    ...(database && { DATABASE_URL: database.url }),
    DATA_DIR: dataDir,
    SECRET_KEY: SECRET,
    RATE_LIMIT_PER_IP: '0',
    RATE_LIMIT_PER_KEY: '0',
    TEST_SENDS_PER_DAY: '0',
    ...options.environment,
  });
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'));
  // To initialise the embedded database takes seconds of the processor, and no test asks it of these
  // services.
  if (loaded.config.databaseUrl === null) await layEmbedded(dataDir);
  const lines: string[] = [];
  const clock = new MovedClock();
  if (options.atNoon) clock.ahead = startOfDay(Date.now()) + 1.5 * DAY_MS - Date.now();
  const { limits, schedule, transport, bodies } = options;
  const service = await openService({
    config: loaded.config,
    logger: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }),
    clock,
    timeouts: PATIENT,
    liveMail: {
      ...(limits && { limits }),
      ...(schedule && { schedule }),
      ...(transport && { transport }),
      ...(bodies && { bodies }),
    },
  });
  stack.defer(() => service.stop());
  await service.start();
  const workspace = await ensureFirstWorkspace(service.database, 'growth', Date.now());
  const server = listen(service.app, { hostname: '127.0.0.1', port: 0 });
  stack.defer(() => server.stop(true));
  const key = (livemode: boolean) =>
    issueKey(
      service.engine,
      { workspaceId: workspace.id, livemode, name: 'Live', permissions: ['*'] },
      Date.now(),
    );
  const keys = { live: await key(true), test: await key(false) };
  const live = createClient(server.url.origin, keys.live);
  const domain = await live.post('/v1/domains', { name: 'sender.example' });
  if (domain.body.data?.status !== 'verified') throw new Error(JSON.stringify(domain.body));
  return {
    url: server.url.origin,
    databaseUrl: loaded.config.databaseUrl ?? '',
    service,
    live,
    test: createClient(server.url.origin, keys.test),
    signer: createSigner(SECRET),
    domainId: domain.body.data.id,
    keys,
    logged: () => lines.join(''),
    async send(more = {}) {
      const sent = await live.post('/v1/emails', {
        from: 'Shop <shop@sender.example>',
        to: 'ada@example.com',
        subject: 'Your order',
        text: 'It is on its way.',
        ...more,
      });
      if (sent.status !== 202) throw new Error(JSON.stringify(sent.body));
      return sent.body.data.id;
    },
    until: (id, is) =>
      eventually(`the email ${id}`, async () => {
        const { data } = (await live.get(`/v1/emails/${id}`)).body;
        return is(data) ? data : undefined;
      }),
    today: () => new Date(clock.now()).toISOString(),
    stopClock: () => clock.stop(),
    async pass(ms) {
      clock.ahead += ms;
      await service.engine.wakeDue();
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** A relay on this machine, reached in clear text, whose silence is not waited for long. */
export const relayTo = (port: number, silenceMs = 5_000): RelayTransport =>
  new RelayTransport(
    {
      host: '127.0.0.1',
      port,
      name: 'sink.test',
      tls: 'none',
      verifyCertificate: true,
      ca: null,
      ehloName: 'posthorn.test',
      credentials: null,
      connectMs: silenceMs,
      silenceMs,
    },
    poolParts(),
  );
