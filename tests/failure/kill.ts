import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/ops/torture/free-port.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { type Client, createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type Service, startService, TEST_KEY } from '../support/service.ts';

/** The emails: the simulated recipients, and the state in which each must end. */
const MIXTURE = [
  { to: ['delivered'], end: 'delivered' },
  { to: ['bounced'], end: 'failed' },
  { to: ['delivered', 'bounced'], end: 'sent' },
  { to: ['complained', 'opened', 'clicked'], end: 'delivered' },
  { to: ['deferred'], end: 'delivered' },
  { to: ['suppressed'], end: 'failed' },
] as const;

const ENDS = ['sent', 'delivered', 'failed'];

/** The kills of the service. */
export interface KillPlan {
  readonly database: 'PGlite' | 'PostgreSQL';
  readonly kills: number;
  /**
   * The number of emails that the client has acknowledged before each kill; picked at random between them.
   */
  readonly emails: readonly [least: number, most: number];
  say(line: string): void;
  /** The data directory of the service; a temporary folder when absent. */
  readonly home?: string;
  /**
   * Ends the service in the middle of its work, in place of `kill -9`; afterwards it can be started again.
   */
  strike?(service: Service): Promise<void>;
}

/** The result. Every list is empty and every sum zero when nothing was lost or doubled. */
export interface KillReport {
  readonly acknowledged: number;
  readonly emails: number;
  readonly restartMs: readonly number[];
  /** Answered with 202, and not in the database. */
  readonly lost: readonly string[];
  /** Answered with 202, and at rest somewhere else than where it belongs. */
  readonly astray: readonly string[];
  /** Emails of any sender that never came to rest. */
  readonly stuck: readonly string[];
  /** `email recipient type` that were recorded twice. */
  readonly doubled: readonly string[];
  /** Idempotency keys with no email or several. */
  readonly keysNotOnce: number;
  /** Units of quota taken, less emails. */
  readonly quotaDrift: number;
  /** Revisions without a row in the journal, or rows without a revision. */
  readonly journalDrift: number;
}

/** The number of wrong members. */
export const faultsOf = ({
  lost,
  astray,
  stuck,
  doubled,
  keysNotOnce,
  quotaDrift,
  journalDrift,
}: KillReport): number =>
  lost.length +
  astray.length +
  stuck.length +
  doubled.length +
  keysNotOnce +
  Math.abs(quotaDrift) +
  Math.abs(journalDrift);

const SENDERS = 16;

/**
 * Kills the service with -9 again and again while a client sends as fast as it can, then looks what is left.
 */
export async function killRepeatedly(plan: KillPlan): Promise<KillReport> {
  const made = plan.database === 'PostgreSQL' ? await createTestDatabase() : null;
  const { strike = (running: Service) => running.kill() } = plan;
  const home = plan.home ?? mkdtempSync(join(tmpdir(), 'posthorn-kill-'));
  const dataDir = join(home, 'data');
  const port = await freePort();
  const start = (): Promise<Service> =>
    startService({
      dataDir,
      port,
      env: {
        ...(made ? { DATABASE_URL: made.url, SECRET_KEY: 'only-for-tests-only-for-tests-only' } : {}),
        TEST_SENDS_PER_DAY: '0',
        RATE_LIMIT_PER_IP: '0',
        RATE_LIMIT_PER_KEY: '0',
        LOG_LEVEL: 'warn',
      },
    });
  let service = await start();
  try {
    const sender = new Sender(createClient(service.url, TEST_KEY));
    const restartMs: number[] = [];
    for (let kill = 1; kill <= plan.kills; kill++) {
      const sending = sender.send();
      const [least, most] = plan.emails;
      await sender.progress(least + Math.floor(Math.random() * (most - least)));
      await strike(service);
      const began = performance.now();
      service = await start();
      restartMs.push(Math.round(performance.now() - began));
      sender.pause();
      await sending;
      plan.say(
        `${plan.database}: kill ${kill} of ${plan.kills}, ${sender.acknowledged.size} acknowledged, up again in ${restartMs.at(-1)} ms`,
      );
    }
    await atRest(createClient(service.url, TEST_KEY));
    await service.stop();
    await using database = await opened(made?.url ?? null, dataDir);
    return { restartMs, acknowledged: sender.acknowledged.size, ...(await look(database.opened, sender)) };
  } finally {
    await service.kill();
    if (plan.home === undefined) rmSync(home, { recursive: true, force: true });
    await made?.close();
  }
}

/**
 * Sends without a break. Every other email has an Idempotency-Key and is asked for until an instance answers.
 */
class Sender {
  /** Id → where it must end. */
  readonly acknowledged = new Map<string, string>();
  keys = 0;
  #paused = false;
  #sent = 0;

  constructor(private readonly client: Client) {}

  /** Resolves once every sender has been told to pause and has let go. */
  async send(): Promise<void> {
    this.#paused = false;
    await Promise.all(Array.from({ length: SENDERS }, () => this.#loop()));
  }

  /** Resolves once so many more emails are acknowledged. */
  async progress(emails: number): Promise<void> {
    const goal = this.acknowledged.size + emails;
    await eventually(`${emails} more emails`, () => (this.acknowledged.size >= goal ? true : undefined), {
      everyMs: 1,
    });
  }

  pause(): void {
    this.#paused = true;
  }

  async #loop(): Promise<void> {
    while (!this.#paused) {
      const number = this.#sent++;
      const { to, end } = MIXTURE[number % MIXTURE.length] as (typeof MIXTURE)[number];
      const body = {
        from: 'sender@example.com',
        to: to.map((name) => `${name}+${number}@simulator.svc.test`),
        subject: `Number ${number}`,
        text: 'x'.repeat(500),
      };
      const headers = number % 2 === 0 ? { 'idempotency-key': `kill-${number}` } : undefined;
      if (headers) this.keys++;
      const id = headers
        ? await eventually('an answer', () => this.#ask(body, headers))
        : await this.#ask(body).catch(() => undefined);
      if (id !== undefined) this.acknowledged.set(id, end);
    }
  }

  async #ask(body: object, headers?: Record<string, string>): Promise<string | undefined> {
    const reply = await this.client.post('/v1/emails', body, headers);
    if (reply.status === 202) return reply.body.data.id;
    // Starting up, stopping, or the first request with this key is still at work.
    if (reply.status === 503 || reply.status === 409) return undefined;
    throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`);
  }
}

/**
 * The last attempts that a kill interrupted are found by their leases, ten seconds later. Page after page is
 * read until all on it are at their end: looked for state by state, an email that goes from `deferred` to
 * `sending` can be in neither.
 */
async function atRest(client: Client): Promise<void> {
  for (let after: string | null = ''; after !== null; )
    after = await eventually('every email of a page is at its end', async () => {
      const { body } = await client.get(`/v1/emails?limit=100${after && `&after=${after}`}`);
      const isEnded = body?.data.every(({ status }: { status: string }) => ENDS.includes(status));
      return isEnded ? { next: body.pagination.nextCursor as string | null } : undefined;
    }).then(({ next }) => next);
}

async function opened(url: string | null, dataDir: string): Promise<{ opened: Database } & AsyncDisposable> {
  const database = await openDatabase({ url, dataDir });
  return { opened: database, [Symbol.asyncDispose]: () => database.close() };
}

async function look(
  database: Database,
  sender: Sender,
): Promise<Omit<KillReport, 'restartMs' | 'acknowledged'>> {
  const emails = await database.query<{ id: string; state: string }>('select id, state from emails_now');
  const states = new Map(emails.map(({ id, state }) => [id, state]));
  const acknowledged = [...sender.acknowledged];
  const doubled = await database.query<{ what: string }>(
    `select email_id || ' ' || recipient || ' ' || type as what from email_events group by 1 having count(*) > 1`,
  );
  const [sums] = await database.query<{
    used: number;
    keys: number;
    kept: number;
    writes: number;
    revisions: number;
  }>(
    `select (select coalesce(sum(used), 0)::integer from usage_totals) as used,
       (select count(*)::integer from idempotency_keys) as keys,
       (select count(distinct reply::json ->> 'id')::integer from idempotency_keys k
        join emails e on e.id = k.reply::json ->> 'id') as kept,
       (select count(*)::integer from email_journal) as writes,
       (select coalesce(sum(revision), 0)::integer from emails_now) as revisions`,
  );
  if (!sums) throw new Error('no sums');
  return {
    emails: emails.length,
    lost: acknowledged.flatMap(([id]) => (states.has(id) ? [] : [id])),
    astray: acknowledged.flatMap(([id, end]) =>
      states.has(id) && states.get(id) !== end ? [`${id} ${states.get(id)}`] : [],
    ),
    stuck: emails.filter(({ state }) => !ENDS.includes(state)).map(({ id, state }) => `${id} ${state}`),
    doubled: doubled.map(({ what }) => what),
    keysNotOnce: Math.abs(sender.keys - sums.keys) + Math.abs(sums.keys - sums.kept),
    quotaDrift: sums.used - emails.length,
    journalDrift: sums.writes - sums.revisions,
  };
}
