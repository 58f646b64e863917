import type postgres from 'postgres';
import { UnavailableError } from '../../errors/unavailable.ts';
import { classify } from '../sqlstate.ts';
import type { HealthProbe, OpenStatement } from './health-probe.ts';

/** The deadline of a statement: a frozen backend never answers, and HTTP has to answer within 8 s. */
export const DEADLINE_MS = 7_000;
/** The time that a statement waits for a database that is away: long enough to see that it is back. */
const RETURN_MS = 800;
/**
 * The time that replaced connections have to answer: one that was thawed with the server answers at once, any
 * other is dead.
 */
const LAST_CHANCE_MS = 150;

/**
 * When an error ends a result half-way, postgres.js 3.4.9 continues to count rows from there: the next result
 * of that connection begins with as many holes (tests/unit/hazards.test.ts). They are closed here.
 */
function whole<T>(result: T): T {
  if (!Array.isArray(result) || result.length === 0 || 0 in result) return result;
  return result.filter(() => true) as T;
}

/** The backend that works on a statement, as postgres.js knows it; undefined for a statement of Drizzle. */
export function backendOf(running: object): number | null | undefined {
  if (!('state' in running)) return undefined;
  return (running.state as { readonly pid: number | null } | null)?.pid ?? null;
}

/**
 * A statement that postgres.js 3.4.9 hands to a connection between that connection's error and its close is
 * never sent; the greeting of the next connection then resolves it, with a result that no command has
 * completed. `posthorn torture` found two emails in 5,500 acknowledged that way and never stored.
 */
function heard<T>(result: T): T {
  if (Array.isArray(result) && 'command' in result && result.command === null)
    throw new UnavailableError('The reply of the database was lost.', 'unknown');
  return result;
}

/** A client, and the ways to end its statements when its connections are given up. */
interface Generation {
  readonly client: postgres.Sql;
  readonly abandoned: Set<(error: UnavailableError) => void>;
}

/** The facts about its database that a pool needs, which may change. */
export interface PoolParts {
  /** Its name in a sentence. */
  name?(): string;
  /** True behind a pooler, which greets with process ids that no backend has. */
  isPooled?(): boolean;
  /** Says why it is away, where more is known than that it does not answer. */
  away?(): string | null;
  /** The usual deadline of a statement; `DEADLINE_MS` when absent. */
  readonly deadlineMs?: number;
}

/** Connections that are replaced as a whole when they may be frozen for ever. */
export class Pool {
  #now: Generation;
  readonly #retiring = new Set<postgres.Sql>();
  #closed = false;

  constructor(
    private readonly open: () => postgres.Sql,
    private readonly watch: HealthProbe,
    private readonly parts: PoolParts = {},
  ) {
    this.#now = { client: open(), abandoned: new Set() };
  }

  /** The present client, for a question that comes before all statements. */
  get client(): postgres.Sql {
    return this.#now.client;
  }

  private get name(): string {
    return this.parts.name?.() ?? 'The database';
  }

  /**
   * Runs a statement on the present client. @throws UnavailableError soon while the database is away, and
   * after `deadlineMs`, when the statement may have been applied.
   */
  async run<T>(deadlineMs: number, use: (client: postgres.Sql) => PromiseLike<T>): Promise<T> {
    if (this.watch.isAway && !(await this.watch.returns(Math.min(deadlineMs, RETURN_MS))))
      throw new UnavailableError(this.parts.away?.() ?? `${this.name} does not answer.`);
    const generation = this.#now;
    let unheard = false;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const giveUp = (error: UnavailableError): void => {
      unheard = true;
      reject(error);
    };
    const timer = setTimeout(() => {
      giveUp(new UnavailableError(`${this.name} does not answer.`, 'unknown'));
      // A deadline shorter than the usual one proves only that the database is slow: other statements may
      // still be answered.
      if (deadlineMs >= (this.parts.deadlineMs ?? DEADLINE_MS) && generation === this.#now) this.replace();
    }, deadlineMs);
    generation.abandoned.add(giveUp);
    let sent: OpenStatement | undefined;
    try {
      // A statement that cannot even be put together throws here, and must leave no deadline behind.
      const running = use(generation.client);
      sent = this.watch.sent(() => (this.parts.isPooled?.() ? 'hidden' : backendOf(running)));
      return whole(heard(await Promise.race([running, late])));
    } catch (error) {
      const known = classify(error, this.name);
      const isLost = !unheard && known instanceof UnavailableError && known.applied === 'unknown';
      if (isLost && generation === this.#now) this.replace(DEADLINE_MS);
      throw known;
    } finally {
      if (sent) this.watch.answered(sent, { unheard });
      generation.abandoned.delete(giveUp);
      clearTimeout(timer);
    }
  }

  /**
   * Replaces the client by a new one; statements on the old connections have a last chance. A lost connection
   * is never used again either: postgres.js 3.4.9 carries over what it had half read, half written or half
   * failed when it reconnects (tests/unit/hazards.test.ts), and then answers with holes, fails a statement it
   * never sent, or hangs for 5 s.
   */
  replace(graceMs = LAST_CHANCE_MS): void {
    if (this.#closed) return;
    const { client, abandoned } = this.#now;
    this.#now = { client: this.open(), abandoned: new Set() };
    this.#retiring.add(client);
    setTimeout(() => {
      this.#retiring.delete(client);
      for (const giveUp of abandoned)
        giveUp(new UnavailableError(`The connections were lost: ${this.name} did not answer.`, 'unknown'));
      void client.end({ timeout: 0 }).catch(() => {});
    }, graceMs).unref();
  }

  async close(): Promise<void> {
    this.#closed = true;
    // Nothing is under way any more, but postgres.js would wait in vain for a connection that was lost in
    // mid-query.
    await Promise.all([this.#now.client, ...this.#retiring].map((client) => client.end({ timeout: 1 })));
  }
}
