import { CRASH_POINTS } from '../config/chaos-setting.ts';
import type { Instance } from './instance.ts';
import type { PostgresServer } from './postgres-server.ts';
import { type Random, randomFrom } from './random.ts';
import type { Relay } from './relay.ts';

/** What can be done to whom. */
export interface Victims {
  readonly instances: readonly Instance[];
  /** One between each instance and PostgreSQL, in the same order. */
  readonly relays: readonly Relay[];
  readonly postgres: PostgresServer;
  readonly leaseMs: number;
  /** Whether machines' clocks may be wrong. */
  readonly clocks: boolean;
  readonly seed: number;
}

/** The troubles, and how often each comes up compared with the others. */
const WEIGHTS = {
  kill: 5,
  'crash point': 4,
  'freeze instance': 3,
  restart: 1,
  'stop PostgreSQL': 1,
  'cut connections': 3,
  'freeze connections': 2,
  'swallow reply': 4,
  // Comes with a start.
  'wrong clock': 0,
} as const;

const HOUR_MS = 3_600_000;
/** How far ahead the clocks of machines are; one in three is right. */
const CLOCKS_MS = [
  0,
  0,
  0,
  HOUR_MS,
  -HOUR_MS,
  25 * HOUR_MS,
  -25 * HOUR_MS,
  91 * 24 * HOUR_MS,
  -91 * 24 * HOUR_MS,
];

/** The name of a trouble. */
export type Fault = keyof typeof WEIGHTS;

const BAG = Object.entries(WEIGHTS).flatMap(([trouble, weight]) =>
  Array.from({ length: weight }, () => trouble as Fault),
);

/** Makes trouble at random moments, several at once, until it is told to stop; then it puts everything right again. */
export class Faults {
  readonly counts = new Map<Fault, number>();
  readonly #chance: Random;
  /** Of its own, so that the other troubles come as they did without it. */
  readonly #clockChance: Random;
  readonly #busy = new Set<unknown>();
  readonly #underWay = new Set<Promise<void>>();
  #stopped = false;
  #working: Promise<void> = Promise.resolve();
  #failure: unknown = null;

  constructor(private readonly victims: Victims) {
    this.#chance = randomFrom(victims.seed);
    this.#clockChance = randomFrom(victims.seed + 1);
  }

  start(): void {
    this.#working = this.#work();
  }

  /** Ends the trouble. @throws what went wrong while it was made: the torture's fault, not the service's */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#working;
    await Promise.all(this.#underWay);
    const { postgres, relays, instances } = this.victims;
    if (!postgres.isUp) await postgres.up();
    for (const relay of relays) relay.thaw();
    for (const instance of instances) {
      if (instance.isFrozen) instance.thaw();
      // One may still carry a crash point that it has not come to.
      await instance.end('SIGKILL');
      this.#start(instance);
    }
    await Promise.all(instances.map((instance) => instance.ready()));
    if (this.#failure !== null) throw this.#failure;
  }

  async #work(): Promise<void> {
    while (!this.#stopped) {
      await Bun.sleep(this.#chance.between(100, 900));
      if (this.#stopped) return;
      this.#begin(this.#chance.pick(BAG), this.#chance.between(0, this.victims.instances.length - 1));
    }
  }

  #begin(trouble: Fault, index: number): void {
    const victim = trouble === 'stop PostgreSQL' ? this.victims.postgres : this.victims.instances[index];
    if (victim === undefined || this.#busy.has(victim)) return;
    this.#busy.add(victim);
    this.#count(trouble);
    const work = this.#make(trouble, index)
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => {
        this.#busy.delete(victim);
        this.#underWay.delete(work);
      });
    this.#underWay.add(work);
  }

  async #make(trouble: Fault, index: number): Promise<void> {
    const { postgres, leaseMs } = this.victims;
    const instance = this.victims.instances[index] as Instance;
    const relay = this.victims.relays[index] as Relay;
    const wait = (least: number, most: number) => Bun.sleep(this.#chance.between(least, most));
    switch (trouble) {
      case 'kill':
        await instance.end('SIGKILL');
        await wait(0, 500);
        return this.#startAgain(instance);
      case 'restart':
        await instance.end('SIGTERM');
        return this.#startAgain(instance);
      case 'crash point':
        await instance.end('SIGKILL');
        return this.#startDoomed(instance);
      case 'freeze instance':
        instance.freeze();
        await wait(leaseMs, leaseMs * 2);
        return instance.thaw();
      case 'stop PostgreSQL':
        await postgres.strike();
        await wait(0, 1_500);
        return await postgres.up();
      case 'cut connections':
        return relay.cut();
      case 'freeze connections':
        relay.freeze();
        await wait(200, 4_000);
        return relay.thaw();
      case 'swallow reply':
        return relay.swallow(this.#chance.between(1, 4));
    }
  }

  async #startAgain(instance: Instance): Promise<void> {
    this.#start(instance);
    // It comes up only as fast as PostgreSQL lets it; a start that PostgreSQL's absence ends is tried again.
    for (let tries = 0; !this.#stopped || tries === 0; tries++) {
      try {
        return await instance.ready();
      } catch (error) {
        if (tries >= 20) throw error;
        await Bun.sleep(200);
        if (!instance.isRunning) this.#start(instance);
      }
    }
  }

  /** A life that ends at a named point, wherever that is. */
  async #startDoomed(instance: Instance): Promise<void> {
    this.#start(instance, {
      at: this.#chance.pick(CRASH_POINTS),
      visit: this.#chance.between(1, 30),
      afterMs: this.#chance.between(0, 5),
    });
    await Promise.race([instance.died(), Bun.sleep(4_000)]);
    if (!instance.isRunning) await this.#startAgain(instance);
  }

  /** On a machine whose clock says what it likes. */
  #start(instance: Instance, crash?: Parameters<Instance['start']>[1]): void {
    // The first one's stays right: what the others wrote must not mislead it.
    if (this.victims.clocks && instance !== this.victims.instances[0])
      instance.clockOffsetMs = this.#clockChance.pick(CLOCKS_MS);
    if (instance.clockOffsetMs !== 0) this.#count('wrong clock');
    instance.start(this.#seed(), crash);
  }

  #count(trouble: Fault): void {
    this.counts.set(trouble, (this.counts.get(trouble) ?? 0) + 1);
  }

  #seed(): number {
    return this.#chance.between(1, 1_000_000_000);
  }
}
