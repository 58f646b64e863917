import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { EMAIL_EVENT_TYPES } from '../../machines/email-recipient.ts';
import type { ChaosSetting } from '../config/chaos-setting.ts';
import { freePort } from './free-port.ts';
import { Instance } from './instance.ts';
import { MailSink } from './mail-sink.ts';
import { PostgresServer } from './postgres-server.ts';
import { Receiver } from './receiver.ts';
import { Relay } from './relay.ts';

/** What a world is made of. */
export interface WorldOptions {
  readonly instances: number;
  /** The program and its first arguments, to which `serve` is added. */
  readonly command: readonly string[];
  /** The folder of PostgreSQL's programs; null to look for it. */
  readonly postgresBin: string | null;
  readonly broken?: ChaosSetting['break'];
  /** Without webhooks everything comes to its end sooner: a posting that was lost is repeated after 15 s. */
  readonly webhooks: boolean;
  /** Live mail beside the simulated, to a mail server of the torture's own. */
  readonly live: boolean;
  /** Machines whose clocks are wrong. */
  readonly clocks: boolean;
  readonly seed: number;
}

/** Short, so that a lost attempt is repeated while somebody looks. */
const LEASE_MS = 1_500;
/**
 * Of one instance: so few that many an attempt finds none free and is declined. With four of them the other one had to repeat
 * nearly every lost attempt by itself: 264 live emails at once, more than its ten sessions to the mail server carry within a
 * lease that is so much shorter than an attempt may take, and they were repeated without end.
 */
const FEW_SLOTS = 16;
const DATABASE = 'posthorn';
/** How far ahead the clocks of the second and third instance's machines are, to begin with. */
const AHEAD_MS = [0, 3_600_000, 91 * 86_400_000];
/** After the trouble everything has this long to come to its end. */
const SETTLE_MS = 90_000;
/** Instances that believe wrong clocks put off for a day what the others take for due: that does not end. */
const UNSETTLED_MS = 10_000;
const BUSY = `select exists (select from emails where wake_at < now() + interval '1 hour')
  or exists (select from webhook_deliveries where wake_at is not null) or exists (select from actor_outbox) as busy`;

/** While mail is captured a name that nobody can own verifies at once, and it stays verified. */
const DOMAIN = 'torture.example';

/** A PostgreSQL, instances of the service on it, a relay before each, and receivers of their webhooks and of their mail. */
export class World implements AsyncDisposable {
  readonly leaseMs = LEASE_MS;
  readonly instances: Instance[] = [];
  /** One between each instance and PostgreSQL, in the same order. */
  readonly relays: Relay[] = [];
  /** Where the instances write down what they performed. */
  readonly records: string[] = [];
  readonly keys = {
    test: `svc_test_${randomBytes(16).toString('hex')}`,
    live: `svc_live_${randomBytes(16).toString('hex')}`,
  };
  /** The domain that live mail is sent from; null where all mail is simulated. */
  readonly liveFrom: string | null;
  readonly #settleMs: number;
  readonly #stack = new AsyncDisposableStack();

  private constructor(
    readonly server: PostgresServer,
    readonly receiver: Receiver,
    readonly sink: MailSink,
    { live, broken }: WorldOptions,
  ) {
    this.#settleMs = broken === 'clock' ? UNSETTLED_MS : SETTLE_MS;
    this.liveFrom = live ? DOMAIN : null;
  }

  /** Makes a world whose instances are up and whose webhook is registered. @throws NoPostgres */
  static async make(options: WorldOptions): Promise<World> {
    const server = await PostgresServer.start(options.postgresBin, await freePort());
    const world = new World(server, await Receiver.open(), await MailSink.open(options.seed), options);
    const removeNow = () => server.removeNow();
    process.once('exit', removeNow);
    world.#stack.defer(async () => {
      process.off('exit', removeNow);
      await server.remove();
    });
    world.#stack.defer(() => world.receiver.close());
    world.#stack.defer(() => world.sink.close());
    try {
      await world.#populate(options);
      return world;
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Of the database, past the relays. */
  get url(): string {
    return this.server.url(DATABASE);
  }

  /** Waits until nothing is under way any more, or until nothing can be expected any more. */
  async settled(): Promise<void> {
    const sql = postgres(this.url, { max: 1, onnotice: () => {} });
    try {
      const deadline = performance.now() + this.#settleMs;
      while (performance.now() < deadline) {
        const [row] = await sql.unsafe<{ busy: boolean }[]>(BUSY);
        if (!row?.busy) return;
        await Bun.sleep(100);
      }
    } finally {
      await sql.end();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }

  async #populate({ instances, command, broken, webhooks, live, clocks, seed }: WorldOptions): Promise<void> {
    const token = await prepare(this.server);
    const home = mkdtempSync(join(tmpdir(), 'posthorn-instances-'));
    this.#stack.defer(() => rmSync(home, { recursive: true, force: true }));
    const secretKey = randomBytes(32).toString('hex');
    for (let index = 0; index < instances; index++) {
      const relay = await Relay.open(this.server.port);
      this.#stack.defer(() => relay.close());
      const record = join(home, `performed-${index}`);
      const instance = new Instance({
        command,
        port: await freePort(),
        databaseUrl: this.server.url(DATABASE, relay.port),
        dataDir: join(home, `data-${index}`),
        secretKey,
        keys: this.keys,
        // Which of the two an email lives by is decided where it is accepted.
        unknownOutcome: index % 2 === 0 ? 'retry' : 'hold',
        torture: {
          token,
          record,
          leaseMs: LEASE_MS,
          seed,
          ...(index === instances - 1 ? { slots: FEW_SLOTS } : {}),
          ...(broken ? { break: broken } : {}),
        },
      });
      // The first one is right, and what it is told by the others must not mislead it.
      if (clocks && index > 0) instance.clockOffsetMs = AHEAD_MS[index % AHEAD_MS.length] as number;
      this.#stack.defer(() => instance.end('SIGKILL'));
      this.relays.push(relay);
      this.records.push(record);
      this.instances.push(instance);
      // One after the other: the first one makes the schema and the keys.
      instance.start(seed + index);
      await instance.ready();
    }
    const { test, live: liveKey } = this.keys;
    if (webhooks) {
      const webhook = { url: this.receiver.url, events: EMAIL_EVENT_TYPES };
      await this.#post('/v1/webhooks', test, webhook);
      if (live) await this.#post('/v1/webhooks', liveKey, webhook);
    }
    if (!live) return;
    await this.#post('/v1/domains', liveKey, { name: DOMAIN });
    for (const [index, instance] of this.instances.entries()) {
      instance.smtpPort = this.sink.port;
      await instance.end('SIGTERM');
      instance.start(seed + index);
      await instance.ready();
    }
  }

  async #post(path: string, key: string, body: object): Promise<void> {
    const response = await fetch(`${this.instances[0]?.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`POST ${path} was refused: ${await response.text()}`);
  }
}

/** Makes the database, and puts the token into it without which no instance lets itself be tortured. */
async function prepare(server: PostgresServer): Promise<string> {
  const admin = postgres(server.url('postgres'), { max: 1, onnotice: () => {} });
  await admin.unsafe(`create database ${DATABASE}`);
  await admin.end();
  const token = randomBytes(16).toString('hex');
  const sql = postgres(server.url(DATABASE), { max: 1, onnotice: () => {} });
  await sql`create table torture (token text not null)`;
  await sql`insert into torture (token) values (${token})`;
  await sql.end();
  return token;
}
