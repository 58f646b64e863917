import { FailoverTransport } from '../../src/mail/transport/smtp/failover.ts';
import { RelayTransport } from '../../src/mail/transport/smtp/relay.ts';
import {
  DROP,
  type Script,
  type ScriptedSmtp,
  SILENCE,
  startScriptedSmtp,
} from '../integration/transport/scripted-smtp.ts';
import { eventually } from '../support/eventually.ts';
import { startLiveService } from '../support/live-service.ts';
import { poolParts } from '../support/pool-parts.ts';

/** The ways in which a relay goes. */
const DEATHS = ['kill', 'refuse', 'hang', 'storm'] as const;
type Death = (typeof DEATHS)[number];

const BUSY = '421 4.3.2 too busy';
const SCRIPTS: Readonly<Record<Death, Script>> = {
  kill: {},
  refuse: { greeting: '554 5.3.2 not today', mail: DROP },
  hang: { greeting: SILENCE, ehlo: SILENCE, mail: SILENCE, rcpt: SILENCE, data: SILENCE, dot: SILENCE },
  storm: { greeting: BUSY, ehlo: BUSY, mail: BUSY, rcpt: BUSY, data: BUSY },
};
/** The wait before each reply: a relay that dies meanwhile has taken a message whose reply is lost. */
const ALIVE: Script = { delayMs: 2 };
const HOUR = 3_600_000;
const LONGER_THAN_A_REST_MS = 61_000;
/**
 * Ten thousand emails wait for the time limits of a relay that hangs, beside whatever else the machine does.
 */
const THE_WHOLE_RUN = { withinMs: 600_000, everyMs: 200 };

/** A relay that dies and returns. It may listen elsewhere then: its port may be in use by now. */
class MortalRelay {
  readonly ids: string[] = [];
  #server: ScriptedSmtp | null = null;
  #port = 0;

  get port(): number {
    return this.#port;
  }

  get taken(): number {
    return this.ids.length + (this.#server?.messages.length ?? 0);
  }

  async live(): Promise<void> {
    await this.#bury();
    this.#server = await startScriptedSmtp({ ...ALIVE });
    this.#port = this.#server.port;
  }

  async die(death: Death): Promise<void> {
    if (death === 'kill') await this.#bury();
    else if (this.#server) this.#server.script = SCRIPTS[death];
  }

  async end(): Promise<void> {
    await this.#bury();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  async #bury(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    await server?.[Symbol.asyncDispose]();
    for (const message of server?.messages ?? [])
      this.ids.push(/^Message-ID: <(em_\w+)@/m.exec(message)?.[1] ?? 'without a Message-ID');
  }
}

/** The count of emails by what became of them. */
export interface Judgement {
  readonly sent: number;
  readonly inDoubt: number;
  /** Emails that no relay has, though they are not in doubt. */
  readonly lost: readonly string[];
  /** Emails that the relays have twice between them. */
  readonly twice: readonly string[];
  /** Emails in any other state than sent or in doubt. */
  readonly other: readonly string[];
  readonly takenBy: readonly number[];
  /** Emails that were accepted after another relay was passed over. */
  readonly handedOver: number;
}

/**
 * Sends `count` emails while each of two relays dies in every way and returns, and judges what the relays
 * have.
 */
export async function failOver(count: number): Promise<Judgement> {
  await using one = new MortalRelay();
  await using two = new MortalRelay();
  const relays = [one, two] as const;
  for (const relay of relays) await relay.live();
  let ahead = 0;
  const transport = new FailoverTransport(
    relays.map((relay, index) => ({ name: `relay-${index}`, transport: relayTo(relay) })),
    () => performance.now() + ahead,
  );
  // Doubts are held, so that no second copy is ever allowed: whatever arrives twice was given to both.
  await using service = await startLiveService({
    transport,
    environment: { UNKNOWN_OUTCOME: 'hold', SENDING_SLOTS: '8' },
  });
  const taken = () => relays.reduce((sum, relay) => sum + relay.taken, 0);
  const deaths = DEATHS.flatMap((death) => relays.map((relay) => ({ death, relay })));
  const share = Math.floor(count / deaths.length);
  let posted = 0;
  const post = async (until: number): Promise<void> => {
    while (posted < until) {
      const chunk = Math.min(50, until - posted);
      posted += chunk;
      await Promise.all(Array.from({ length: chunk }, () => service.send()));
    }
  };
  for (const [index, { death, relay }] of deaths.entries()) {
    const before = taken();
    const posting = post(index === deaths.length - 1 ? count : (index + 1) * share);
    // It dies in the middle of the work, and stays away until the other one has carried a quarter of the
    // share.
    await eventually('mail under way', async () => taken() >= before + share / 8 || undefined);
    const other = relay === relays[0] ? relays[1] : relays[0];
    if (relay === relays[1]) {
      // The second relay has mail only while the first one is away: it dies under that load, as the first one
      // returns.
      const idle = relay.taken;
      await other.die('storm');
      await eventually('the second relay carries', async () => relay.taken >= idle + share / 8 || undefined);
      await other.live();
      await relay.die(death);
      ahead += LONGER_THAN_A_REST_MS;
    } else await relay.die(death);
    const had = other.taken;
    await eventually(
      `${death}: the other relay takes over`,
      async () => other.taken >= had + share / 4 || undefined,
    );
    await posting;
    await relay.live();
    ahead += LONGER_THAN_A_REST_MS;
    // Whatever was put off, because both had failed for a moment, is work for the next round.
    await service.pass(LONGER_THAN_A_REST_MS);
  }
  await post(count);
  const states = () =>
    service.service.database.query<{ id: string; state: string; in_doubt: boolean }>(
      `select id, state, coalesce((context #>> '{recipients,0,inDoubt}')::boolean, false) as in_doubt from emails_now`,
    );
  let passed = 0;
  await eventually(
    'every email is sent or in doubt',
    async () => {
      const open = (await states()).filter(({ state, in_doubt }) => state !== 'sent' && !in_doubt);
      if (open.length === 0) return true;
      if (open.every(({ state }) => state === 'deferred') && passed++ < 24) await service.pass(HOUR);
      return undefined;
    },
    THE_WHOLE_RUN,
  );
  const rows = await states();
  await transport.close();
  for (const relay of relays) await relay.end();
  const copies = new Map<string, number>();
  for (const id of relays.flatMap(({ ids }) => ids)) copies.set(id, (copies.get(id) ?? 0) + 1);
  const [handed] = await service.service.database.query<{ n: number }>(
    `select count(*)::integer as n from email_events where type = 'sent' and data::jsonb -> 'passedOver' is not null`,
  );
  return {
    sent: rows.filter(({ state }) => state === 'sent').length,
    inDoubt: rows.filter(({ state, in_doubt }) => state !== 'sent' && in_doubt).length,
    lost: rows.filter(({ id, state }) => state === 'sent' && !copies.has(id)).map(({ id }) => id),
    twice: [...copies].filter(([, number]) => number > 1).map(([id]) => id),
    other: rows.filter(({ state, in_doubt }) => state !== 'sent' && !in_doubt).map(({ id }) => id),
    takenBy: relays.map(({ ids }) => ids.length),
    handedOver: handed?.n ?? 0,
  };
}

const relayTo = (relay: MortalRelay): RelayTransport =>
  new RelayTransport(
    {
      host: '127.0.0.1',
      get port() {
        return relay.port;
      },
      name: 'sink.test',
      tls: 'none',
      verifyCertificate: true,
      ca: null,
      ehloName: 'posthorn.test',
      credentials: null,
      connectMs: 500,
      silenceMs: 2_000,
    },
    poolParts(),
  );
