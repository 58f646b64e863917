import { connect as connectPlain, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import type { Clock } from '../../../platform/time/clock.ts';

/** Idle time of a connection. Node's servers close after five seconds, and our side should close first. */
const IDLE_MS = 4_000;
/** Longest age of a connection. Without a limit a busy one would stay with a host that has moved. */
const AGE_MS = 60_000;
/**
 * Most idle connections, because file descriptors are shared with everything else; further ones close after
 * use.
 */
const IDLE_MAX = 1_000;
const IDLE_MAX_PER_ENDPOINT = 64;

/** The place that the connections of an endpoint lead to. */
export interface Target {
  /** The endpoint and the place: two customers with the same host share no connection. */
  readonly key: string;
  readonly secure: boolean;
  /** A name, or an address that the guard has accepted. */
  readonly host: string;
  readonly port: number;
}

/** The user of a connection, which receives its events. */
export interface ConnectionUser {
  /** The connection is open, and over TLS the receiver has proven its name. */
  ready(): void;
  data(chunk: Uint8Array): void;
  /** The receiver sends no more. */
  ended(): void;
  /** It is closed. */
  closed(error: Error | null): void;
}

/** A connection of one endpoint, for one request at a time. */
export class Connection {
  user: ConnectionUser | null = null;
  /** When it became idle, by the process's own clock. */
  idleSince = 0;
  #error: Error | null = null;

  constructor(
    readonly key: string,
    private readonly socket: Socket,
    readyEvent: 'connect' | 'secureConnect',
    /** Monotonic. */
    readonly openedAt: number,
  ) {
    socket.once(readyEvent, () => this.user?.ready());
    // Octets that arrive without a request could only be taken for the answer to the next one.
    socket.on('data', (chunk: Uint8Array) => (this.user ? this.user.data(chunk) : this.destroy()));
    socket.on('end', () => (this.user ? this.user.ended() : this.destroy()));
    socket.on('error', (error) => {
      this.#error = error;
    });
    socket.once('close', () => this.user?.closed(this.#error));
  }

  get isOpen(): boolean {
    return !this.socket.destroyed && this.socket.writable;
  }

  /** True when all that was written has left this process. */
  get isFlushed(): boolean {
    return this.socket.writableLength === 0;
  }

  write(bytes: Uint8Array): void {
    this.socket.write(bytes);
  }

  /** Closes the connection at once, without further events for its user. */
  destroy(): void {
    this.user = null;
    this.socket.destroy();
  }

  onClose(listener: () => void): void {
    this.socket.once('close', listener);
  }
}

/** The settings with which connections are opened. */
export interface ConnectOptions {
  readonly clock: Clock;
  readonly lookup: LookupFunction;
  /** The trusted certificate authorities in PEM; null for the runtime's own list. */
  readonly ca: string | null;
}

/**
 * The connections of webhooks. Idle ones are kept for the next event of the same endpoint, which doubles to
 * triples the throughput of one connection for each event (tests/bench/webhook-post.ts); two customers with
 * the same host never share one. An address is checked when it is connected to, and the policy does not
 * change while the process runs, so an open connection needs no check.
 */
export class Connections {
  readonly #idle = new Map<string, Connection[]>();
  /** All idle connections, the longest idle first. */
  readonly #order = new Set<Connection>();
  #sweeping: Timer | undefined;
  #closed = false;

  constructor(private readonly options: ConnectOptions) {}

  /** An idle connection to that target, or null. */
  take(target: Target): Connection | null {
    const idle = this.#idle.get(target.key);
    for (let kept = idle?.at(-1); kept; kept = idle?.at(-1)) {
      this.#remove(kept);
      if (kept.isOpen && performance.now() - kept.idleSince < IDLE_MS) return kept;
      kept.destroy();
    }
    return null;
  }

  /** Opens a connection, which reports to its user that it is ready, or closed. */
  open(target: Target): Connection {
    const { clock, lookup, ca } = this.options;
    const { host, port } = target;
    const to = { host, port, lookup, autoSelectFamily: true, noDelay: true };
    // Without rejectUnauthorized, NODE_TLS_REJECT_UNAUTHORIZED would decide.
    const socket = target.secure
      ? connectSecure({
          ...to,
          ...(isIP(host) === 0 && { servername: host }),
          rejectUnauthorized: true,
          ...(ca !== null && { ca }),
        })
      : connectPlain(to);
    const ready = target.secure ? 'secureConnect' : 'connect';
    const connection = new Connection(target.key, socket, ready, clock.monotonic());
    connection.onClose(() => this.#remove(connection));
    return connection;
  }

  /** Takes back a connection whose request is over, for the next one. */
  keep(connection: Connection): void {
    connection.user = null;
    const idle = this.#idle.get(connection.key) ?? [];
    const age = this.options.clock.monotonic() - connection.openedAt;
    const isUnwanted =
      this.#closed || age > AGE_MS || this.#order.size >= IDLE_MAX || idle.length >= IDLE_MAX_PER_ENDPOINT;
    if (isUnwanted || !connection.isOpen) return connection.destroy();
    connection.idleSince = performance.now();
    idle.push(connection);
    this.#idle.set(connection.key, idle);
    this.#order.add(connection);
    this.#sweepLater(IDLE_MS);
  }

  /** Ends the idle connections. Requests under way go on. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#sweeping);
    for (const connection of [...this.#order]) {
      this.#remove(connection);
      connection.destroy();
    }
  }

  #remove(connection: Connection): void {
    if (!this.#order.delete(connection)) return;
    const idle = this.#idle.get(connection.key) ?? [];
    idle.splice(idle.lastIndexOf(connection), 1);
    if (idle.length === 0) this.#idle.delete(connection.key);
  }

  /** One timer for all connections: the first to become idle is the first to close. */
  #sweepLater(ms: number): void {
    if (this.#sweeping !== undefined || this.#closed) return;
    this.#sweeping = setTimeout(() => {
      this.#sweeping = undefined;
      const now = performance.now();
      for (const connection of this.#order) {
        const left = connection.idleSince + IDLE_MS - now;
        if (left > 0) return this.#sweepLater(left);
        this.#remove(connection);
        connection.destroy();
      }
    }, ms);
    this.#sweeping.unref();
  }
}
