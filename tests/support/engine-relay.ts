import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What happens to the next statement whose bytes contain the mark. */
interface Plan {
  readonly mark: string;
  /**
   * 'lose its reply': it is executed, its reply never arrives, the connection breaks. 'lose it': the connection breaks and
   * it was never executed. 'delay it': the connection breaks, and it is executed all the same, when the test says so.
   */
  readonly fate: 'lose its reply' | 'lose it' | 'delay it';
  readonly struck: PromiseWithResolvers<void>;
  /** What happens between the server's reply and the break that the client sees. */
  readonly meanwhile: () => Promise<unknown>;
}

/** A line between us and PostgreSQL that breaks where a test wants it to. */
export class Relay implements AsyncDisposable {
  readonly #server = createServer((client) => this.#serve(client));
  readonly #pairs = new Set<readonly [client: Socket, server: Socket]>();
  #plan: Plan | null = null;
  #held: (() => Promise<void>) | null = null;
  #frozen = false;
  #url = new URL('postgres://nowhere');

  /** A relay to the server of that URL. */
  static async to(url: string): Promise<Relay> {
    const relay = new Relay(new URL(url));
    relay.#server.listen(0, '127.0.0.1');
    await once(relay.#server, 'listening');
    relay.#url = new URL(url);
    relay.#url.port = String((relay.#server.address() as AddressInfo).port);
    return relay;
  }

  private constructor(private readonly target: URL) {}

  /** The same database, by way of the relay. */
  get url(): string {
    return this.#url.href;
  }

  /** Lays a trap for the next statement that contains the mark. Resolves once something fell into it. */
  trap(mark: string, fate: Plan['fate'], meanwhile: Plan['meanwhile'] = async () => {}): Promise<void> {
    const struck = Promise.withResolvers<void>();
    this.#plan = { mark, fate, meanwhile, struck };
    return struck.promise;
  }

  /** Hands the delayed statement to the server; resolves when the server has answered it. */
  async release(): Promise<void> {
    await this.#held?.();
  }

  /** Nothing gets through any more, in either direction; nobody is told. */
  freeze({ newcomersToo }: { newcomersToo: boolean }): void {
    this.#frozen = newcomersToo;
    for (const pair of this.#pairs) for (const socket of pair) socket.pause();
  }

  /** New connections get through again; the frozen ones stay frozen. */
  thaw(): void {
    this.#frozen = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #serve(client: Socket): void {
    if (this.#frozen) {
      // Accepted by the kernel, answered by nobody.
      this.#pairs.add([client, client]);
      client.on('error', () => {});
      return;
    }
    const server = connect(Number(this.target.port), this.target.hostname);
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    let doomed = false;
    const close = (): void => {
      if (!doomed) for (const socket of pair) socket.destroy();
      this.#pairs.delete(pair);
    };
    for (const socket of pair) socket.on('error', close).on('close', close);
    server.on('data', (data) => client.write(data));
    client.on('data', (data: Buffer) => {
      const plan = this.#plan;
      if (!plan || !data.includes(plan.mark)) {
        server.write(data);
        return;
      }
      this.#plan = null;
      doomed = true;
      void this.#strike(plan, client, server, data);
    });
  }

  async #strike(
    { fate, meanwhile, struck }: Plan,
    client: Socket,
    server: Socket,
    data: Buffer,
  ): Promise<void> {
    server.removeAllListeners('data');
    const deliver = async (): Promise<void> => {
      server.resume();
      server.write(data);
      await once(server, 'data');
      server.destroy();
    };
    if (fate === 'lose its reply') await deliver();
    if (fate === 'lose it') server.destroy();
    if (fate === 'delay it') this.#held = deliver;
    await meanwhile();
    client.destroy();
    struck.resolve();
  }
}
