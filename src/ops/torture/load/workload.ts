import { randomFrom } from '../random.ts';
import { type Answer, type Ask, ask } from './ask.ts';

/** The instances, one of which gets each request of an application, and its key. */
export interface WorkloadParts {
  readonly urls: readonly string[];
  readonly apiKey: string;
  readonly seed: number;
}

/** An application with several workers, each of which does one thing after another until it is stopped. */
export abstract class Workload<Parts extends WorkloadParts> {
  protected isStopped = false;
  protected readonly chance;
  #workers: Promise<void>[] = [];

  /** `place`: the number of the application in the run, which gives each a separate random sequence. */
  constructor(
    protected readonly parts: Parts,
    place: number,
    private readonly workers: number,
  ) {
    this.chance = randomFrom(parts.seed + place);
  }

  start(): void {
    this.#workers = Array.from({ length: this.workers }, () => this.#work());
  }

  /** Begins nothing more, and waits for the work in progress. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.#workers);
  }

  /** One round of a worker, which repeats it. */
  protected abstract round(): Promise<void>;

  protected ask({ path, ...rest }: Omit<Ask, 'url' | 'apiKey'> & { readonly path: string }): Promise<Answer> {
    const { urls, apiKey } = this.parts;
    return ask({ ...rest, apiKey, url: `${this.chance.pick(urls)}${path}` });
  }

  async #work(): Promise<void> {
    while (!this.isStopped) await this.round();
  }
}
