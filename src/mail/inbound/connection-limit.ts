import { KeyedBudget } from '../../platform/async/keyed-budget.ts';
import { clientKey } from '../../platform/config/client-address.ts';

/** A connection, the same object from its beginning to its end. */
interface Connection {
  readonly remoteAddress: string;
}

/** Limits the connections of one address, or of one IPv6 network. */
export class ConnectionLimit {
  readonly #names = new Map<Connection, string>();
  readonly #counts: KeyedBudget;

  constructor(most: number) {
    this.#counts = new KeyedBudget({ total: Number.POSITIVE_INFINITY, each: most });
  }

  /** True when the connection may stay; then `leave` frees it. */
  admit(connection: Connection): boolean {
    const name = clientKey(connection.remoteAddress);
    if (!this.#counts.take(name)) return false;
    this.#names.set(connection, name);
    return true;
  }

  /** Called when a connection has ended, admitted or not. */
  leave(connection: Connection): void {
    const name = this.#names.get(connection);
    if (name === undefined) return;
    this.#names.delete(connection);
    this.#counts.give(name);
  }
}
