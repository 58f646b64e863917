import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A connection of a client, and the one to the server that belongs to it. */
export interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** Its next reply is swallowed, and then it is cut. */
  doomed: boolean;
  /** A subclass decides when it ends. */
  isHeld?: boolean;
}

/** A commit with something in it is larger than this; keep-alives and reads of a row are smaller. */
const A_COMMIT = 600;

/** TCP in between an instance and PostgreSQL, which can be cut, frozen, and made to swallow a reply. */
export class Relay {
  readonly #listener = createServer({ allowHalfOpen: false }, (client) => this.#join(client));
  readonly #pairs = new Set<Pair>();
  #frozen = false;
  #swallowing = 0;
  #swallowed = 0;

  /** @param target a port of 127.0.0.1 */
  protected constructor(private readonly target: number) {}

  /** Listens on a free port of 127.0.0.1 and passes everything on to the target port there. */
  static async open(target: number): Promise<Relay> {
    const relay = new Relay(target);
    await relay.listen();
    return relay;
  }

  protected async listen(): Promise<void> {
    this.#listener.listen(0, '127.0.0.1');
    await once(this.#listener, 'listening');
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  /** Replies to commits that were swallowed so far. */
  get swallowed(): number {
    return this.#swallowed;
  }

  /** Cuts every connection. */
  cut(): void {
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
  }

  /**
   * Passes nothing on any more, in either direction, until `thaw`: what a network does that has lost a link.
   * New connections get through unless they are frozen too.
   */
  freeze({ newcomersToo = true } = {}): void {
    this.#frozen = newcomersToo;
    for (const { client, server } of this.#pairs) {
      client.pause();
      server.pause();
    }
  }

  /**
   * Passes everything on again; only the connections that are made from now on when the frozen ones are
   * `dead`.
   */
  thaw({ dead = false } = {}): void {
    this.#frozen = false;
    if (dead) return;
    for (const { client, server } of this.#pairs) {
      client.resume();
      server.resume();
    }
  }

  /** Lets the next commits through and loses the replies to them. */
  swallow(commits: number): void {
    this.#swallowing += commits;
  }

  async close(): Promise<void> {
    this.cut();
    this.#listener.close();
    await once(this.#listener, 'close');
  }

  /** Passes on what a client has sent. */
  protected pass(pair: Pair, data: Buffer): void {
    if (this.#swallowing > 0 && data.length > A_COMMIT) {
      this.#swallowing--;
      pair.doomed = true;
    }
    pair.server.write(data);
  }

  #join(client: Socket): void {
    const server = connect(this.target, '127.0.0.1');
    const pair: Pair = { client, server, doomed: false };
    this.#pairs.add(pair);
    if (this.#frozen) client.pause();
    client.on('data', (data: Buffer) => this.pass(pair, data));
    server.on('data', (data) => {
      if (!pair.doomed) return void client.write(data);
      this.#swallowed++;
      client.resetAndDestroy();
      server.destroy();
    });
    const part = () => {
      this.#pairs.delete(pair);
      if (pair.isHeld) return;
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on('error', part);
      socket.on('close', part);
    }
  }
}
