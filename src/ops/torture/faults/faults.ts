import { CRASH_POINTS } from '../../../platform/config/settings/chaos-setting.ts';
import type { Instance } from '../instance.ts';
import type { PostgresServer } from '../postgres-server.ts';
import { type RandomSource, randomFrom } from '../random.ts';
import type { Relay } from './relay.ts';

/** The processes and connections that faults are injected into. */
export interface Targets {
  readonly instances: readonly Instance[];
  /** A relay between each instance and PostgreSQL, in the order of the instances; none without a server. */
  readonly relays: readonly Relay[];
  /** Null where the database is inside the instance: then processes alone are broken. */
  readonly postgres: PostgresServer | null;
  readonly leaseMs: number;
  /** Instances may start with a wrong clock. */
  readonly clocks: boolean;
  readonly seed: number;
}

/** The faults, with the relative frequency of each. */
const WEIGHTS = {
  kill: 5,
  'crash point': 4,
  'freeze instance': 3,
  restart: 1,
  'stop PostgreSQL': 1,
  'cut connections': 3,
  'freeze connections': 2,
  'swallow reply': 4,
  // A wrong clock is chosen whenever an instance starts.
  'wrong clock': 0,
} as const;

const HOUR_MS = 3_600_000;
/** Offsets of the instances' clocks; one in three is right. */
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

export type Fault = keyof typeof WEIGHTS;

/** Faults that break a server, or the way to it. */
const OF_SERVER: Readonly<Record<Fault, boolean>> = {
  kill: false,
  'crash point': false,
  'freeze instance': false,
  restart: false,
  'stop PostgreSQL': true,
  'cut connections': true,
  'freeze connections': true,
  'swallow reply': true,
  'wrong clock': false,
};

const bagOf = (hasServer: boolean): readonly Fault[] =>
  (Object.entries(WEIGHTS) as [Fault, number][])
    .filter(([fault]) => hasServer || !OF_SERVER[fault])
    .flatMap(([fault, weight]) => Array.from({ length: weight }, () => fault));

/** Injects faults at random moments, several at once, until it is stopped; then it repairs everything. */
export class Faults {
  readonly counts = new Map<Fault, number>();
  readonly #chance: RandomSource;
  /** Its own generator, so that the other faults of a seed stay the same with and without wrong clocks. */
  readonly #clockChance: RandomSource;
  readonly #bag: readonly Fault[];
  readonly #busy = new Set<unknown>();
  readonly #underWay = new Set<Promise<void>>();
  #stopped = false;
  #working: Promise<void> = Promise.resolve();
  #failure: unknown = null;

  constructor(private readonly targets: Targets) {
    this.#bag = bagOf(targets.postgres !== null);
    this.#chance = randomFrom(targets.seed);
    this.#clockChance = randomFrom(targets.seed + 1);
  }

  start(): void {
    this.#working = this.#work();
  }

  /**
   * Ends all faults. @throws the first error of an injection, which is a bug of the chaos run and not of the
   * service
   */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#working;
    await Promise.all(this.#underWay);
    const { postgres, relays, instances } = this.targets;
    if (postgres && !postgres.isUp) await postgres.up();
    for (const relay of relays) relay.thaw();
    for (const instance of instances) {
      if (instance.isFrozen) instance.thaw();
      // An instance may still have a crash point that it has not reached.
      await instance.end('SIGKILL');
    }
    // A reply that a relay is still to swallow may be one to a start.
    await Promise.all(instances.map((instance) => this.#startAgain(instance)));
    if (this.#failure !== null) throw this.#failure;
  }

  async #work(): Promise<void> {
    while (!this.#stopped) {
      await Bun.sleep(this.#chance.between(100, 900));
      if (this.#stopped) return;
      this.#begin(this.#chance.pick(this.#bag), this.#chance.between(0, this.targets.instances.length - 1));
    }
  }

  #begin(fault: Fault, index: number): void {
    const target = fault === 'stop PostgreSQL' ? this.targets.postgres : this.targets.instances[index];
    if (!target || this.#busy.has(target)) return;
    this.#busy.add(target);
    this.#count(fault);
    const work = this.#make(fault, index)
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => {
        this.#busy.delete(target);
        this.#underWay.delete(work);
      });
    this.#underWay.add(work);
  }

  async #make(fault: Fault, index: number): Promise<void> {
    const { postgres, leaseMs } = this.targets;
    const instance = this.targets.instances[index] as Instance;
    const relay = this.targets.relays[index] as Relay;
    const wait = (least: number, most: number) => Bun.sleep(this.#chance.between(least, most));
    switch (fault) {
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
        await postgres?.strike();
        await wait(0, 1_500);
        return await postgres?.up();
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
    // An instance exits when PostgreSQL is away for too long at its start; then it is started again. While
    // faults continue, a start on a busy machine may meet one every time.
    for (let undisturbed = 0; ; undisturbed += this.#stopped ? 1 : 0) {
      try {
        return await instance.ready();
      } catch (error) {
        if (undisturbed >= 20) throw error;
        await Bun.sleep(200);
        if (!instance.isRunning) this.#start(instance);
      }
    }
  }

  /** Starts an instance that kills itself at a crash point. */
  async #startDoomed(instance: Instance): Promise<void> {
    this.#start(instance, {
      at: this.#chance.pick(CRASH_POINTS),
      visit: this.#chance.between(1, 30),
      afterMs: this.#chance.between(0, 5),
    });
    await Promise.race([instance.died(), Bun.sleep(4_000)]);
    if (!instance.isRunning) await this.#startAgain(instance);
  }

  /** Starts an instance, with another clock offset each time. */
  #start(instance: Instance, crash?: Parameters<Instance['start']>[1]): void {
    // The first instance keeps the right time: the writes of the others must not mislead it.
    if (this.targets.clocks && instance !== this.targets.instances[0])
      instance.clockOffsetMs = this.#clockChance.pick(CLOCKS_MS);
    if (instance.clockOffsetMs !== 0) this.#count('wrong clock');
    instance.start(this.#seed(), crash);
  }

  #count(fault: Fault): void {
    this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1);
  }

  #seed(): number {
    return this.#chance.between(1, 1_000_000_000);
  }
}
