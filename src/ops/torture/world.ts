import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { EMAIL_EVENT_TYPES } from '../../../machines/email/recipient.ts';
import { openSession } from '../../engine/audit/session.ts';
import type { Safeguard } from '../../platform/config/settings/chaos-setting.ts';
import { type DatabaseLocation, openDatabase } from '../../platform/db/open.ts';
import { Relay } from './faults/relay.ts';
import { freePort } from './free-port.ts';
import { Instance } from './instance.ts';
import { preparePeople } from './judge/campaign-record.ts';
import { prepareFlow } from './judge/flow-record.ts';
import { MailSink } from './mail-sink.ts';
import { Patience } from './patience.ts';
import { PostgresServer } from './postgres-server.ts';
import { Receiver } from './receiver.ts';

/** The options of a test environment. */
export interface WorldOptions {
  readonly instances: number;
  /** The program and its first arguments, to which `serve` is added. */
  readonly command: readonly string[];
  /** True for one instance on the database inside the process, and no PostgreSQL. */
  readonly embedded: boolean;
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
 * Slots of the last instance, few enough that attempts are declined. With only four, the other instance had
 * to repeat nearly every lost attempt: 264 live emails at once, more than its sessions to the mail server
 * carried within the short lease, so that they were repeated without end.
 */
const FEW_SLOTS = 16;
const DATABASE = 'posthorn';
/** Initial clock offsets of the instances. */
const AHEAD_MS = [0, 3_600_000, 91 * 86_400_000];
/** Between two looks at what is still pending. */
const LOOK_MS = 100;
/** The same where each look copies the database. */
const LOOK_AT_COPY_MS = 3_000;
/** Time for everything to settle after the last fault. */
const SETTLE_MS = 90_000;
/**
 * Breaks after which some email may stay pending for ever: without revisions one commit writes over another.
 * Such a run waited for 90 seconds of an idle machine, and for several times as long on a busy one.
 */
const NEVER_SETTLING = ['clock', 'heartbeat', 'revision'] as const;
/**
 * The same with breaks after which a run never settles: wrong clocks postpone timers by a day, and no
 * instance looks after the dead.
 */
const UNSETTLED_MS = 10_000;
const BUSY = `select exists (select from email_due where wake_at < now() + interval '1 hour')
  or exists (
    select from instances i join emails b on b.kept_by = i.id and b.id >= i.low_water
    where not exists (select from email_turns t where t.email_id = b.id))
  or exists (select from webhook_deliveries where wake_at is not null or state = 'posting') or exists (select from actor_outbox)
  or exists (select from flow_runs where ended_at is null)
  or exists (select from campaigns where state in ('preparing', 'sending')) as busy`;

interface BusyRow {
  readonly busy: boolean;
}

/** A reserved name, which verifies at once while mail is captured, and stays verified. */
const DOMAIN = 'torture.example';

/**
 * The test environment: PostgreSQL, instances of the service with a relay each, a webhook receiver and a mail
 * sink.
 */
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
    /** Null where the database is inside the instance. */
    readonly server: PostgresServer | null,
    /** The folder of everything that instances keep. */
    private readonly home: string,
    readonly receiver: Receiver,
    readonly sink: MailSink,
    { live, broken }: WorldOptions,
  ) {
    this.settles = !NEVER_SETTLING.some((one) => broken.includes(one));
    this.#settleMs = this.settles ? SETTLE_MS : UNSETTLED_MS;
    this.liveFrom = live ? DOMAIN : null;
  }

  /** Starts everything, and registers webhook and domain. @throws NoPostgres */
  static async make(options: WorldOptions): Promise<World> {
    const server = options.embedded
      ? null
      : await PostgresServer.start({ programs: options.postgresBin, port: await freePort() });
    const home = mkdtempSync(join(tmpdir(), 'posthorn-instances-'));
    const sink = await MailSink.open(options.seed);
    const world = new World(server, home, await Receiver.open(), sink, options);
    const removeNow = () => server?.removeNow();
    process.once('exit', removeNow);
    world.#stack.defer(async () => {
      process.off('exit', removeNow);
      rmSync(home, { recursive: true, force: true });
      await server?.remove();
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

  /** The database, without a relay. */
  get where(): DatabaseLocation {
    return this.server
      ? { url: this.server.url(DATABASE), dataDir: null }
      : { url: null, dataDir: this.#dataDir(0) };
  }

  #dataDir = (index: number): string => join(this.home, `data-${index}`);

  /** Waits until no email, delivery or event is pending, for a limited time. */
  async settled(): Promise<void> {
    const patience = new Patience(this.#settleMs);
    const { server } = this;
    // One connection for all looks: with a separate one, a look took 18 ms of processor time instead of 1.5.
    const connection = { jit: 'off' };
    const sql = server && postgres(server.url(DATABASE), { max: 1, fetch_types: false, connection });
    const look = () => (sql ? sql.unsafe<BusyRow[]>(BUSY, [], { prepare: true }) : this.#lookAtCopy());
    try {
      while (patience.lasts && (await look())[0]?.busy) await patience.pause(sql ? LOOK_MS : LOOK_AT_COPY_MS);
    } finally {
      await sql?.end({ timeout: 1 });
    }
  }

  /** The embedded database is read as a copy while its instance runs. */
  async #lookAtCopy(): Promise<BusyRow[]> {
    const session = await openSession(this.where);
    try {
      return await session.query<BusyRow>(BUSY);
    } finally {
      await session.close();
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
    const token = await this.#prepare();
    const { server, home } = this;
    const secretKey = randomBytes(32).toString('hex');
    for (let index = 0; index < instances; index++) {
      const relay = server && (await Relay.open(server.port));
      if (relay) {
        this.#stack.defer(() => relay.close());
        this.relays.push(relay);
      }
      const record = join(home, `performed-${index}`);
      const instance = new Instance({
        command,
        port: await freePort(),
        inboundPort: await freePort(),
        databaseUrl: server && relay ? server.url(DATABASE, relay.port) : null,
        dataDir: this.#dataDir(index),
        secretKey,
        keys: this.keys,
        // The accepting instance's setting applies to an email.
        unknownOutcome: index % 2 === 0 ? 'retry' : 'hold',
        torture: {
          token,
          record,
          leaseMs: LEASE_MS,
          seed,
          ...(index > 0 && index === instances - 1 ? { slots: FEW_SLOTS } : {}),
          // One of three knows the others: what is not known of the roster must cost nothing but work.
          isAlone: index > 0,
          break: [...broken],
        },
      });
      // The first instance keeps the right time: the writes of the others must not mislead it.
      if (clocks && index > 0) instance.clockOffsetMs = AHEAD_MS[index % AHEAD_MS.length] as number;
      this.#stack.defer(() => instance.end('SIGKILL'));
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
    const domainId = await this.#post('/v1/domains', liveKey, { name: DOMAIN });
    const route = { domainId, match: { type: 'catchAll' }, action: { type: 'keep' } };
    await this.#post('/v1/inbound-routes', liveKey, route);
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

  /** Creates the database with the token, without which no instance accepts TORTURE. */
  async #prepare(): Promise<string> {
    const token = randomBytes(16).toString('hex');
    if (this.server) await createOn(this.server);
    const database = await openDatabase(this.where);
    try {
      await database.script('create table torture (token text not null)');
      await database.query('insert into torture (token) values ($1)', [token]);
    } finally {
      await database.close();
    }
    return token;
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

async function createOn(server: PostgresServer): Promise<void> {
  const admin = postgres(server.url('postgres'), { max: 1, onnotice: () => {} });
  await admin.unsafe(`create database ${DATABASE}`);
  await admin.end();
}
