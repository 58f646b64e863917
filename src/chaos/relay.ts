import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** Its next reply is swallowed, and then it is cut. */
  doomed: boolean;
}

/** What a commit with something in it is larger than; keep-alives and reads of a row are smaller. */
const A_COMMIT = 600;

/** TCP in between an instance and PostgreSQL, that can be cut, frozen, and made to swallow a reply. */
export class Relay {
  readonly #pairs = new Set<Pair>();
  #frozen = false;
  #swallowing = 0;
  #swallowed = 0;

  private constructor(
    private readonly server: Server,
    private readonly target: number,
  ) {}

  /** Listens on a free port of 127.0.0.1 and passes everything on to the target port there. */
  static async open(target: number): Promise<Relay> {
    const server = createServer({ allowHalfOpen: false });
    const relay = new Relay(server, target);
    server.on('connection', (client) => relay.#join(client));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return relay;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
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

  /** Passes nothing on any more, in either direction, until `thaw`: what a network does that has lost a link. */
  freeze(): void {
    this.#frozen = true;
    for (const { client, server } of this.#pairs) {
      client.pause();
      server.pause();
    }
  }

  thaw(): void {
    this.#frozen = false;
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
    this.server.close();
    await once(this.server, 'close');
  }

  #join(client: Socket): void {
    const server = connect(this.target, '127.0.0.1');
    const pair: Pair = { client, server, doomed: false };
    this.#pairs.add(pair);
    if (this.#frozen) client.pause();
    client.on('data', (data) => {
      if (this.#swallowing > 0 && data.length > A_COMMIT) {
        this.#swallowing--;
        pair.doomed = true;
      }
      server.write(data);
    });
    server.on('data', (data) => {
      if (!pair.doomed) return void client.write(data);
      this.#swallowed++;
      client.resetAndDestroy();
      server.destroy();
    });
    const part = () => {
      this.#pairs.delete(pair);
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
