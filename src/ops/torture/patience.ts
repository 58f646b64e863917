import { availableParallelism, loadavg } from 'node:os';

/** The most that a busy machine counts: what never comes must not be waited for too long. */
const MOST = 4;

/**
 * The processes that share a processor of this machine, over the last minute; 1 where it is idle or does not
 * say.
 */
const processesPerCore = (): number => (loadavg()[0] ?? 0) / availableParallelism();

/**
 * A limit on waiting for other processes, in milliseconds of an idle machine. On a busy one a pause ends on
 * time and the work takes longer: at a load of 22 on two cores 60 pauses of 100 ms took 6.9 s, and 0.3 s of
 * the processor took 23 s. So a pause counts only as the share that a process gets of a core.
 */
export class Patience {
  #spent = 0;

  constructor(
    private readonly limitMs: number,
    private readonly crowd = processesPerCore,
  ) {}

  /** False once it has been waited for long enough. */
  get lasts(): boolean {
    return this.#spent < this.limitMs;
  }

  async pause(ms: number): Promise<void> {
    await Bun.sleep(ms);
    this.#spent += ms / Math.min(Math.max(this.crowd(), 1), MOST);
  }
}
