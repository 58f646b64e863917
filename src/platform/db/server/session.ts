import { orAborted, withDeadline } from '../../async/deadline.ts';
import { UnavailableError } from '../../errors/unavailable.ts';
import type { DatabaseSession } from '../database.ts';
import { classify } from '../sqlstate.ts';
import { type ConnectionOptions, connect } from './connect.ts';

/**
 * A session waits as long as its owner wants, and must not be cut for its silence. As texts: the driver
 * leaves out settings that are 0.
 */
const UNHURRIED = { statement_timeout: '0', idle_session_timeout: '0' };

/** One connection that ends with its socket: the driver would open the next one, and not tell. */
export class PostgresSession implements DatabaseSession {
  readonly #client;
  readonly #end = Promise.withResolvers<void>();
  readonly #over = new AbortController();
  readonly ended = this.#end.promise;

  constructor(options: Pick<ConnectionOptions, 'url' | 'name' | 'primaryOnly' | 'link' | 'onNotification'>) {
    this.#client = connect({ ...options, max: 1, settings: UNHURRIED, onClose: () => this.#ends() });
  }

  async query<Row extends object>(text: string, deadlineMs: number): Promise<readonly Row[]> {
    const { signal } = this.#over;
    const unanswered = () => (signal.aborted ? hasEnded('unknown') : isSilent());
    // The driver would open another connection.
    if (signal.aborted) throw hasEnded();
    try {
      const rows = await withDeadline({ signal, deadlineMs }, (late) =>
        orAborted(this.#client.unsafe(text).simple(), late, unanswered),
      );
      return rows as unknown as readonly Row[];
    } catch (error) {
      throw classify(error);
    }
  }

  async close(): Promise<void> {
    this.#ends();
    // A statement under way is not waited for.
    await this.#client.end({ timeout: 0 });
  }

  #ends(): void {
    this.#end.resolve();
    this.#over.abort();
  }
}

const hasEnded = (applied?: 'unknown'): UnavailableError =>
  new UnavailableError('A session of the database has ended.', applied);
const isSilent = (): UnavailableError =>
  new UnavailableError('A session of the database does not answer.', 'unknown');
