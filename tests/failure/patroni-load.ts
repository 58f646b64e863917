import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { eventually } from '../support/eventually.ts';
import { type Service, startService, TEST_KEY } from '../support/service.ts';

const CLIENTS = 12;
/** The rest of a client after each email: some 150 emails a second leave the machine to the cluster. */
const REST_MS = 60;

/** The acknowledged emails that are left. */
export interface Left {
  /** Keys whose email was acknowledged and is not there. */
  readonly gone: ReadonlySet<string>;
  /** Keys with more than one email. */
  readonly doubled: number;
  /** Events that an email has twice for one recipient. */
  readonly doubledEvents: number;
}

/** Clients of two instances; each asks with one key, at either, until its email is acknowledged. */
export class PatroniLoad {
  readonly acknowledged = new Map<string, string>();
  readonly statuses = new Map<string, number>();
  /** The times of the latest acknowledgements, by `performance.now()`. */
  #at: number[] = [];
  #isOver = false;
  #isStopped = false;
  #ended: Promise<unknown> = Promise.resolve();

  private constructor(private readonly services: readonly Service[]) {}

  static async start(databaseUrl: string): Promise<PatroniLoad> {
    const env = {
      DATABASE_URL: databaseUrl,
      SECRET_KEY: 'only-for-tests-only-for-tests-only',
      TEST_SENDS_PER_DAY: '0',
      RATE_LIMIT_PER_IP: '0',
      RATE_LIMIT_PER_KEY: '0',
      LOG_LEVEL: 'warn',
    };
    const services = [await startService({ env }), await startService({ env })];
    const load = new PatroniLoad(services);
    process.once('exit', () => load.#killNow());
    load.#ended = Promise.all(Array.from({ length: CLIENTS }, (_, place) => load.#send(place)));
    return load;
  }

  async progress(emails: number): Promise<void> {
    const goal = this.acknowledged.size + emails;
    await eventually(
      `${emails} more acknowledged emails`,
      () => (this.acknowledged.size >= goal ? true : undefined),
      { withinMs: 120_000 },
    );
  }

  /**
   * The first acknowledgement after the longest time without one since then, in milliseconds from then on.
   */
  firstAfter(since: number): { readonly ms: number; readonly silentMs: number } {
    let [before, longest, end] = [since, 0, since];
    for (const at of this.#at) {
      if (at < since) continue;
      if (at - before > longest) [longest, end] = [at - before, at];
      before = at;
    }
    return { ms: end - since, silentMs: longest };
  }

  forget(): void {
    this.#at = [];
  }

  /** Lets each client have its last email acknowledged. */
  async finish(): Promise<void> {
    this.#isOver = true;
    await this.#ended;
  }

  /** Lets the clients leave what is not acknowledged. */
  giveUp(): void {
    this.#isStopped = true;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    this.giveUp();
    for (const service of this.services) await service[Symbol.asyncDispose]();
  }

  #killNow(): void {
    for (const { pid } of this.services)
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
  }

  output(): string {
    return this.services.map((service) => service.output()).join('\n');
  }

  async #send(place: number): Promise<void> {
    for (let tries = place; !this.#isOver; ) {
      const key = randomUUID();
      while (!this.#isStopped) {
        // The next try is at the other instance, which knows nothing of this one.
        const id = await this.#ask(this.services[tries++ % this.services.length] as Service, key);
        if (id !== null) {
          this.acknowledged.set(key, id);
          this.#at.push(performance.now());
          break;
        }
        await Bun.sleep(REST_MS);
      }
      await Bun.sleep(REST_MS);
    }
  }

  async #ask({ url }: Service, key: string): Promise<string | null> {
    const note = (what: string) => this.statuses.set(what, (this.statuses.get(what) ?? 0) + 1);
    try {
      const answer = await fetch(`${url}/v1/emails`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${TEST_KEY}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify({
          from: 'shop@acme.example',
          to: 'delivered@simulator.svc.test',
          subject: 'A failover',
          text: 'It got through.',
          tags: [{ name: 'try', value: key }],
        }),
        signal: AbortSignal.timeout(15_000),
      });
      const body = (await answer.json()) as { data?: { id: string } };
      note(`${answer.status}`);
      return answer.status === 202 && body.data ? body.data.id : null;
    } catch (error) {
      note(error instanceof Error ? error.name : 'error');
      return null;
    }
  }
}

/** Holds what was acknowledged until now against what the leader has. */
export async function compare(leaderUrl: string, acknowledged: ReadonlyMap<string, string>): Promise<Left> {
  const told = new Map(acknowledged);
  const sql = postgres(leaderUrl, { max: 1, connect_timeout: 5, onnotice: () => {} });
  try {
    const rows = await sql<{ id: string; key: string }[]>`
      select id, substring(tags::text from '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22,27}') as key from emails where cardinality(tags) > 0`;
    const [events] = await sql<{ count: number }[]>`
      select count(*)::integer as count from
        (select 1 from email_events group by email_id, recipient, type having count(*) > 1) as twice`;
    const ids = new Map<string, string[]>();
    for (const { id, key } of rows) ids.set(key, [...(ids.get(key) ?? []), id]);
    return {
      gone: new Set([...told].flatMap(([key, id]) => (ids.get(key)?.includes(id) ? [] : [key]))),
      doubled: [...ids.values()].filter(({ length }) => length > 1).length,
      doubledEvents: events?.count ?? 0,
    };
  } finally {
    await sql.end();
  }
}
