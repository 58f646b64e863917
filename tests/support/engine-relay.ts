import { once } from 'node:events';
import { type Pair, Relay } from '../../src/ops/torture/faults/relay.ts';

/** The fate of the next statement whose bytes contain the mark. */
interface Plan {
  readonly mark: string;
  /**
   * 'lose its reply': it is executed, its reply never arrives, the connection breaks. 'lose it': the
   * connection breaks and it was never executed. 'delay it': the connection breaks, and it is executed all
   * the same, when the test says so.
   */
  readonly fate: 'lose its reply' | 'lose it' | 'delay it';
  readonly struck: PromiseWithResolvers<void>;
  /** Called between the server's reply and the break that the client sees. */
  readonly meanwhile: () => Promise<unknown>;
}

/** A relay between us and PostgreSQL that breaks at the statement a test names. */
export class StatementRelay extends Relay implements AsyncDisposable {
  #plan: Plan | null = null;
  #held: (() => Promise<void>) | null = null;

  /** A relay to the server of that URL. */
  static async to(url: string): Promise<StatementRelay> {
    const relay = new StatementRelay(new URL(url));
    await relay.listen();
    return relay;
  }

  private constructor(private readonly original: URL) {
    super(Number(original.port));
  }

  /** The same database, by way of the relay. */
  get url(): string {
    const url = new URL(this.original);
    url.hostname = '127.0.0.1';
    url.port = String(this.port);
    return url.href;
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

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  protected override pass(pair: Pair, data: Buffer): void {
    const plan = this.#plan;
    if (!plan || !data.includes(plan.mark)) return super.pass(pair, data);
    this.#plan = null;
    pair.isHeld = true;
    void this.#strike(plan, pair, data);
  }

  async #strike({ fate, meanwhile, struck }: Plan, { client, server }: Pair, data: Buffer): Promise<void> {
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
