import { clientAddress } from '../../http/limits/client-address.ts';

/** A connection, the same object from its beginning to its end. */
interface Connection {
  readonly remoteAddress: string;
}

const NO_HEADERS = new Headers();
const nameOf = clientAddress({ hops: 0 });

/** Limits the connections of one address, or of one IPv6 network. */
export class ConnectionLimit {
  readonly #names = new Map<Connection, string>();
  readonly #counts = new Map<string, number>();

  constructor(private readonly most: number) {}

  /** True when the connection may stay; then `leave` frees it. */
  admit(connection: Connection): boolean {
    const name = nameOf(connection.remoteAddress, NO_HEADERS);
    const count = this.#counts.get(name) ?? 0;
    if (count >= this.most) return false;
    this.#names.set(connection, name);
    this.#counts.set(name, count + 1);
    return true;
  }

  /** Called when a connection has ended, admitted or not. */
  leave(connection: Connection): void {
    const name = this.#names.get(connection);
    if (name === undefined) return;
    this.#names.delete(connection);
    const count = (this.#counts.get(name) ?? 1) - 1;
    if (count === 0) this.#counts.delete(name);
    else this.#counts.set(name, count);
  }
}
