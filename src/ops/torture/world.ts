import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { EMAIL_EVENT_TYPES } from '../../../machines/email/recipient.ts';
import type { Safeguard } from '../../platform/config/settings/chaos-setting.ts';
import { Relay } from './faults/relay.ts';
import { freePort } from './free-port.ts';
import { Instance } from './instance.ts';
import { preparePeople } from './judge/campaign-record.ts';
import { prepareFlow } from './judge/flow-record.ts';
import { MailSink } from './mail-sink.ts';
import { PostgresServer } from './postgres-server.ts';
import { Receiver } from './receiver.ts';

/** The options of a test environment. */
export interface WorldOptions {
  readonly instances: number;
  /** The program and its first arguments, to which `serve` is added. */
  readonly command: readonly string[];
  /** The folder of PostgreSQL's programs; null to search for it. */
  readonly postgresBin: string | null;
  /** The safeguards that are switched off. */
  readonly broken: readonly Safeguard[];
  /** Registers a webhook. Runs without one settle sooner: a lost delivery is repeated after 15 s. */
  readonly webhooks: boolean;
  /** Sends live mail to the mail sink, beside simulated mail. */
  readonly live: boolean;
  /** Sends campaigns as well, where live mail is sent. */
  readonly campaigns: boolean;
  /** Sets the clocks of all instances but the first wrong. */
  readonly clocks: boolean;
  readonly seed: number;
}

/** A short lease, so that lost attempts are repeated within the run. */
const LEASE_MS = 1_500;
/**
 * Slots of the last instance, few enough that attempts are declined. With only four, the other instance had to repeat nearly
 * every lost attempt: 264 live emails at once, more than its sessions to the mail server carried within the short lease, so
 * that they were repeated without end.
 */
const FEW_SLOTS = 16;
const DATABASE = 'posthorn';
/** Initial clock offsets of the instances. */
const AHEAD_MS = [0, 3_600_000, 91 * 86_400_000];
/** Time for everything to settle after the last fault. */
const SETTLE_MS = 90_000;
/** The same with breaks after which a run never settles: wrong clocks postpone timers by a day, and nobody looks after the dead. */
const UNSETTLED_MS = 10_000;
const BUSY = `select exists (select from email_due where wake_at < now() + interval '1 hour')
  or exists (
    select from instances i join emails b on b.kept_by = i.id and b.id >= i.low_water
    where not exists (select from email_turns t where t.email_id = b.id))
  or exists (select from webhook_deliveries where wake_at is not null or state = 'posting') or exists (select from actor_outbox)
  or exists (select from flow_runs where ended_at is null)
  or exists (select from campaigns where state in ('preparing', 'sending')) as busy`;

/** A reserved name, which verifies at once while mail is captured, and stays verified. */
const DOMAIN = 'torture.example';

/** The test environment: PostgreSQL, instances of the service with a relay each, a webhook receiver and a mail sink. */
export class World implements AsyncDisposable {
  readonly leaseMs = LEASE_MS;
  readonly instances: Instance[] = [];
  /** A relay between each instance and PostgreSQL, in the order of the instances. */
  readonly relays: Relay[] = [];
  /** The files in which the instances record what they performed. */
  readonly records: string[] = [];
  readonly keys = {
    test: `svc_test_${randomBytes(16).toString('hex')}`,
    live: `svc_live_${randomBytes(16).toString('hex')}`,
  };
  /** The sender's domain of live mail; null when all mail is simulated. */
  readonly liveFrom: string | null;
  /** The flow that every live contact begins; null without live mail. */
  flowId: string | null = null;
  /** The people whom campaigns are for; null without campaigns. */
  audienceId: string | null = null;
  /** False with breaks after which a run never settles. */
  readonly settles: boolean;
  readonly #settleMs: number;
  readonly #stack = new AsyncDisposableStack();

  private constructor(
    readonly server: PostgresServer,
    readonly receiver: Receiver,
    readonly sink: MailSink,
    { live, broken }: WorldOptions,
  ) {
    this.settles = !broken.includes('clock') && !broken.includes('heartbeat');
    this.#settleMs = this.settles ? SETTLE_MS : UNSETTLED_MS;
    this.liveFrom = live ? DOMAIN : null;
  }

  /** Starts everything, and registers webhook and domain. @throws NoPostgres */
  static async make(options: WorldOptions): Promise<World> {
    const server = await PostgresServer.start({ programs: options.postgresBin, port: await freePort() });
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

  /** The URL of the database, without a relay. */
  get url(): string {
    return this.server.url(DATABASE);
  }

  /** Waits until no email, delivery or event is pending, for a limited time. */
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

  async #populate({
    instances,
    command,
    broken,
    webhooks,
    live,
    campaigns,
    clocks,
    seed,
  }: WorldOptions): Promise<void> {
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
        // The accepting instance's setting applies to an email.
        unknownOutcome: index % 2 === 0 ? 'retry' : 'hold',
        torture: {
          token,
          record,
          leaseMs: LEASE_MS,
          seed,
          ...(index === instances - 1 ? { slots: FEW_SLOTS } : {}),
          // One of three knows the others: what is not known of the roster must cost nothing but work.
          isAlone: index > 0,
          break: [...broken],
        },
      });
      // The first instance keeps the right time: it must not be misled by what the others wrote.
      if (clocks && index > 0) instance.clockOffsetMs = AHEAD_MS[index % AHEAD_MS.length] as number;
      this.#stack.defer(() => instance.end('SIGKILL'));
      this.relays.push(relay);
      this.records.push(record);
      this.instances.push(instance);
      // One after the other: the first instance creates the schema and the keys.
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
    const post = (path: string, body: object) => this.#post(path, liveKey, body);
    if (campaigns) this.audienceId = await preparePeople(post);
    this.flowId = await prepareFlow(post, DOMAIN);
  }

  async #post(path: string, key: string, body: object): Promise<string> {
    const response = await fetch(`${this.instances[0]?.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`POST ${path} was refused: ${await response.text()}`);
    return ((await response.json()) as { data: { id: string } }).data.id;
  }
}

/** Creates the database with the token, without which no instance accepts TORTURE. */
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
