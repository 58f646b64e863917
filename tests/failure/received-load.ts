import postgres from 'postgres';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { Patience } from '../../src/ops/torture/patience.ts';
import { openSubmitter, type Submitter } from '../bench/submitter.ts';
import { nothing, startNameServer, txt } from '../integration/transport/name-server.ts';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { LIVE_KEY, type Service, startService } from '../support/service.ts';

/** The domain of which every address is taken. */
export const DOMAIN = 'elsewhere.test';

/** The recipients of one message in five; all others are to the second of them. */
const BOTH = [`sales@${DOMAIN}`, `support@${DOMAIN}`];
/** The sender of every envelope. */
export const SENDER = 'ada@customer.example';

/** A message that was handed in. */
export interface LedgerEntry {
  readonly messageId: string;
  /** The program that hands it in. */
  readonly by: string;
  readonly to: readonly string[];
  readonly raw: string;
  /** True once the end of the message was answered 250, or a server with a queue has it. */
  isAnswered: boolean;
  /**
   * The words by which it was refused for good, or why it was given up; absent otherwise. Nothing of a run
   * deserves either.
   */
  refusal?: string;
}

/** The messages of a run, and what became of them outside of the service. */
export class Ledger {
  readonly entries = new Map<string, LedgerEntry>();

  /** Writes a message down before it is handed in. */
  add(by: string, recipients?: readonly string[]): LedgerEntry {
    const number = this.entries.size;
    const messageId = `<${by}-${number}-${crypto.randomUUID()}@customer.example>`;
    const to = recipients ?? (number % 5 === 0 ? BOTH : BOTH.slice(1));
    const raw = [
      'From: Ada <ada@customer.example>',
      `To: ${to.join(', ')}`,
      `Subject: Order ${number}`,
      'Date: Sun, 29 Nov 2026 10:00:00 +0000',
      `Message-ID: ${messageId}`,
      '',
      ...Array.from({ length: 5 + (number % 30) }, (_, line) => `Line ${line} of ${messageId}`),
      '',
    ].join('\r\n');
    const entry: LedgerEntry = { messageId, by, to, raw, isAnswered: false };
    this.entries.set(messageId, entry);
    return entry;
  }

  get answered(): number {
    let count = 0;
    for (const { isAnswered } of this.entries.values()) if (isAnswered) count++;
    return count;
  }
}

/** Two instances on one PostgreSQL, each with a port for mail that stays the same over its starts. */
export interface Receivers extends AsyncDisposable {
  readonly ports: readonly number[];
  readonly services: readonly Service[];
  /** `kill -9`, and a start after it. */
  strike(index: number): Promise<void>;
}

/** Starts them, with a route that takes every address of the domain. */
export async function startReceivers(databaseUrl: string, instances = 2): Promise<Receivers> {
  await using stack = new AsyncDisposableStack();
  const services: Service[] = [];
  const ports: number[] = [];
  for (let n = 0; n < instances; n++) ports.push(await freePort());
  // One of the machine may drop questions, and each would hold a message for seconds.
  const dns = stack.use(
    await startNameServer({
      'customer.example TXT': [{ ...txt('v=spf1 ip4:127.0.0.0/8 -all'), ttl: 300 }],
      '_dmarc.customer.example TXT': [{ ...txt('v=DMARC1; p=none'), ttl: 300 }],
      '_dmarc.example TXT': nothing(300, 300),
    }),
  );
  stack.defer(async () => {
    await Promise.all(services.map((service) => service[Symbol.asyncDispose]()));
  });
  const start = (index: number): Promise<Service> =>
    startService({
      env: {
        DATABASE_URL: databaseUrl,
        SECRET_KEY: 's'.repeat(32),
        DEFAULT_PLAN: 'unlimited',
        INBOUND_SMTP_PORT: String(ports[index]),
        LOG_LEVEL: 'warn',
        DNS_SERVERS: `${dns.server.address}:${dns.server.port}`,
        // The ledger reads as fast as it can.
        RATE_LIMIT_PER_IP: '0',
        RATE_LIMIT_PER_KEY: '0',
      },
    });
  // One after the other: the first creates the schema and the keys.
  for (const index of ports.keys()) services.push(await start(index));
  const live = createClient(services[0]?.url ?? '', LIVE_KEY);
  const domain = await live.post('/v1/domains', { name: DOMAIN });
  const route = { domainId: domain.body.data?.id, match: { type: 'catchAll' }, action: { type: 'keep' } };
  const made = await live.post('/v1/inbound-routes', route);
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  const running = stack.move();
  return {
    ports,
    services,
    async strike(index) {
      await services[index]?.kill();
      services[index] = await start(index);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const AGAIN_MS = 50;
/**
 * Messages that were begun before the end are handed in again for so long: instances start within seconds.
 */
const LAST_MS = 120_000;

/** Sessions that hand messages in one by one, each message again at any instance until it is answered 250. */
export class DirectSenders implements AsyncDisposable {
  #isStopped = false;
  #isGivenUp = false;
  readonly #ended: Promise<unknown>;
  /** Messages that had to come again. */
  again = 0;
  /** Replies other than 250 to the end of a message or to a recipient, by their codes. */
  readonly refusals = new Map<string, number>();

  constructor(
    private readonly ledger: Ledger,
    private readonly ports: readonly number[],
    sessions: number,
    /** Between two messages of a session. */
    private readonly paceMs = 0,
  ) {
    this.#ended = Promise.all(Array.from({ length: sessions }, (_, n) => this.#send(n)));
  }

  /** Replies that put a message off. */
  get putOff(): number {
    return this.refusals.values().reduce((sum, times) => sum + times, 0);
  }

  /** Hands nothing new in; every message that was begun is answered in the end, or given up. */
  async finish(): Promise<void> {
    this.#isStopped = true;
    await this.#ended;
  }

  /** Hands nothing in any more, answered or not. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isGivenUp = true;
    await this.finish();
  }

  async #send(number: number): Promise<void> {
    let session: Submitter | null = null;
    while (!this.#isStopped) {
      const entry = this.ledger.add('direct');
      const patience = new Patience(LAST_MS);
      for (let tries = 0; !entry.isAnswered && entry.refusal === undefined; tries++) {
        if (tries > 0) this.again++;
        const port = this.ports[(number + tries) % this.ports.length] as number;
        try {
          session ??= await openSubmitter({ port });
          await session.send(SENDER, entry.to, octetsOf(entry));
          entry.isAnswered = true;
        } catch (error) {
          const { message } = error as Error;
          this.#note(message);
          session?.close();
          session = null;
          if (isFinal(message)) entry.refusal = message;
          if (this.#isGivenUp || (this.#isStopped && !patience.lasts))
            entry.refusal ??= `given up: ${message}`;
          // It shapes the load, and nothing is waited for.
          if (this.#isStopped) await patience.pause(AGAIN_MS);
          else await Bun.sleep(AGAIN_MS);
        }
      }
      if (this.paceMs > 0) await Bun.sleep(this.paceMs);
    }
    session?.close();
  }

  #note(message: string): void {
    const [code] = /^[45]\d\d \d\.\d\.\d/.exec(message) ?? [];
    if (code !== undefined) this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
  }
}

/** True for a reply with which a server sends the message back to its author. */
export const isFinal = (reply: string): boolean => /^(?:[A-Z]+: )?5\d\d[ -]/.test(reply);

/** The message without its last line end, which the end of DATA has. */
export const octetsOf = ({ raw }: LedgerEntry): Buffer => Buffer.from(raw.trimEnd());

/** A row of received mail. */
export interface StoredRow {
  readonly id: string;
  readonly messageId: string;
  readonly to: string;
  /** True where it has a content. */
  readonly isWhole: boolean;
}

/**
 * Every fault of the rows against the ledger: each answered message is there once for each recipient, nothing
 * else is, and none was refused.
 */
export function faultsOf(
  rows: readonly StoredRow[],
  { entries }: Pick<Ledger, 'entries'>,
): readonly string[] {
  const found = Map.groupBy(rows, ({ messageId, to }) => `${messageId} ${to}`);
  const faults: string[] = [];
  for (const { messageId, to, isAnswered, refusal } of entries.values()) {
    if (refusal !== undefined) faults.push(`refused: ${messageId}: ${refusal}`);
    const there = to.filter((one) => found.has(`${messageId} ${one}`)).length;
    // Of what was not answered each message is there for all of its recipients, or for none.
    if (isAnswered ? there < to.length : there !== 0 && there < to.length)
      faults.push(`lost: ${messageId} is there for ${there} of ${to.length} recipients`);
  }
  for (const [key, each] of found)
    if (each.length > 1) faults.push(`doubled: ${key} is there ${each.length} times`);
  for (const { id, messageId, isWhole } of rows) {
    if (!entries.has(messageId)) faults.push(`foreign: ${id} is ${messageId}, which was never handed in`);
    if (!isWhole) faults.push(`broken: ${id} has no content`);
  }
  return faults;
}

/** Messages whose octets are read and compared. */
const READ = 200;

/**
 * The rows of a database and their faults; of some messages the octets as well, which a server on the way
 * gives more fields.
 */
export async function judgeLedger(
  databaseUrl: string,
  ledger: Ledger,
  url: string,
): Promise<{ readonly rows: readonly StoredRow[]; readonly faults: readonly string[] }> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    const rows = await sql<StoredRow[]>`
      select r.id, r.summary ->> 'messageId' as "messageId", r.recipient as "to", c.id is not null as "isWhole"
      from received r left join received_contents c on c.id = r.content_id`;
    const faults = [...faultsOf(rows, ledger)];
    const step = Math.max(1, Math.floor(rows.length / READ));
    const body = (raw: string): string => raw.slice(raw.indexOf('\r\n\r\n')).trimEnd();
    for (const { id, messageId } of rows.filter((_, at) => at % step === 0)) {
      const answer = await eventually(`${id} is read`, async () => {
        const read = await fetch(`${url}/v1/received/${id}/raw`, {
          headers: { authorization: `Bearer ${LIVE_KEY}` },
        });
        // It has been killed, and so has its database: 503 asks for patience.
        if (read.status === 503) return undefined;
        if (!read.ok) throw new Error(`${id}: ${read.status} ${await read.text()}`);
        return read;
      });
      if (body(await answer.text()) !== body(ledger.entries.get(messageId)?.raw ?? ''))
        faults.push(`broken: ${id} is not what was handed in as ${messageId}`);
    }
    return { rows, faults };
  } finally {
    await sql.end();
  }
}
