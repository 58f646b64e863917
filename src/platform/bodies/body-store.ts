import { Circuit, type CircuitState } from '../async/circuit.ts';
import { withDeadline } from '../async/deadline.ts';
import { Semaphore } from '../async/semaphore.ts';
import { mintId } from '../db/ids.ts';
import { UnavailableError } from '../errors/unavailable.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { BODY_KINDS, type BodyOwner, bodyKey, generationClosed, readBodyKey, shelfOf } from './body-key.ts';
import type { Bucket } from './bucket.ts';
import { Generations } from './generations.ts';

export interface WrittenBody {
  readonly key: string;
  /** The deadline for a reference to it (epoch ms, by the database's clock). */
  readonly until: number;
}

/** A body that will not come back by waiting: it is not there, or is not what was written. */
export class BodyLost extends Error {
  override readonly name = 'BodyLost';

  constructor(
    readonly key: string,
    readonly what: 'missing' | 'damaged',
  ) {
    super(`The body ${key} is ${what}.`);
  }
}

/** Numbers and services of a store. */
export interface BodyStoreParts {
  /** The time by the database's clock (epoch ms). */
  readonly now: () => number;
  readonly monotonic: () => number;
  readonly metrics?: Pick<Metrics, 'bodyStore' | 'bodyStoreFailure'> | null;
  /** True where the bodies of this database are in another bucket; absent for a command that looks at one. @throws UnavailableError */
  readonly isExchanged?: ((bucket: Bucket) => Promise<boolean>) | undefined;
  readonly limits?: Partial<BodyLimits>;
}

export interface BodyLimits {
  /** Milliseconds in which a body is written, its wait for a turn included: a request is answered within eight seconds. */
  readonly writeMs: number;
  /** Milliseconds in which a body is read, its wait included; a large one has a second more for each MiB. */
  readonly readMs: number;
  /** Octets that are read, and that are written, at once; a larger body goes alone. */
  readonly octets: number;
  /** Bodies that may wait to be written, and to be read. */
  readonly waiting: number;
}

const LIMITS: BodyLimits = { writeMs: 6_000, readMs: 10_000, octets: 67_108_864, waiting: 1_024 };
const MIB = 1_048_576;
const EXCHANGED =
  'BODY_STORE is another bucket than the one with the bodies of this database: set that one again, or copy all its objects, `owner` too.';
/** The least weight of a body in octets: so no more than 256 go at once. */
const LEAST = 262_144;
/** The longest that a store which was away is left alone before it is tried again. */
const LONGEST_REST_MS = 10_000;

/**
 * The contents that lie outside the database. Reading and writing have a deadline, a bound on the memory under way, and rest while the
 * server is away, so that neither requests nor mail wait for it again and again.
 */
export class BodyStore {
  readonly #limits: BodyLimits;
  readonly #generations: Generations;
  readonly #circuit: Circuit;
  readonly #writing: Semaphore;
  readonly #reading: Semaphore;
  #isOwn = false;

  constructor(
    readonly bucket: Bucket,
    private readonly parts: BodyStoreParts,
  ) {
    const { monotonic, now, limits } = parts;
    this.#limits = { ...LIMITS, ...limits };
    this.#generations = new Generations(now);
    this.#circuit = new Circuit(monotonic, LONGEST_REST_MS);
    this.#writing = new Semaphore(this.#limits.octets, monotonic, this.#limits.waiting);
    this.#reading = new Semaphore(this.#limits.octets, monotonic, this.#limits.waiting);
  }

  /** The circuit's state: in use, or left alone because the store was away. */
  get state(): CircuitState {
    return this.#circuit.state;
  }

  /** Makes a body durable outside; one that is shared, and that this process wrote lately, is not written again. @throws UnavailableError */
  async write(owner: BodyOwner, octets: Uint8Array<ArrayBuffer>): Promise<WrittenBody> {
    const hash = new Bun.CryptoHasher('sha256').update(octets).digest('hex');
    const { isShared } = BODY_KINDS[owner.kind];
    const generation = isShared ? this.#generations.current : mintId('gen', this.parts.now());
    const { workspaceId } = owner;
    const key = bodyKey({ shelf: shelfOf(owner), workspaceId, generation, hash, octets: octets.length });
    const put = () =>
      this.#asked('write', this.#writing, octets.length, this.#limits.writeMs, async (signal) => {
        await this.#expectOwn();
        await this.bucket.put(key, octets, hash, signal);
      });
    await (isShared ? this.#generations.once(key, put) : put());
    return { key, until: generationClosed(generation) };
  }

  /** The octets of a body, which are those that were written. @throws BodyLost, UnavailableError */
  async read(key: string): Promise<Uint8Array> {
    const place = readBodyKey(key);
    if (!place) throw new BodyLost(key, 'missing');
    const { octets, hash } = place;
    const deadlineMs = this.#limits.readMs + (1_000 * octets) / MIB;
    const found = await this.#asked('read', this.#reading, octets, deadlineMs, (signal) =>
      this.bucket.get(key, octets, signal),
    );
    const isSame =
      found?.length === octets && new Bun.CryptoHasher('sha256').update(found).digest('hex') === hash;
    if (found && isSame) return found;
    if (!found) await this.#expectOwn();
    this.#generations.endAfterLoss(key);
    throw new BodyLost(key, found ? 'damaged' : 'missing');
  }

  /** Refuses a bucket in which every body seems lost. It is looked at until it is the right one. */
  async #expectOwn(): Promise<void> {
    if (this.#isOwn) return;
    if (await this.parts.isExchanged?.(this.bucket)) throw new UnavailableError(EXCHANGED, 'no', 60);
    this.#isOwn = true;
  }

  async #asked<T>(
    operation: 'read' | 'write',
    turns: Semaphore,
    octets: number,
    deadlineMs: number,
    ask: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { metrics, monotonic } = this.parts;
    const need = Math.max(octets, LEAST);
    const refuse = (reason: 'busy' | 'resting', seconds: number): UnavailableError => {
      metrics?.bodyStoreFailure(operation, reason);
      const says = reason === 'busy' ? 'is overloaded' : 'is unavailable, and is tried again soon';
      return new UnavailableError(`The body store ${says}.`, 'no', seconds);
    };
    return withDeadline({ signal: NEVER, deadlineMs }, async (signal) => {
      if (!(await turns.take(need, signal))) throw refuse('busy', 1);
      const admission = this.#circuit.admit();
      if (admission === null) {
        turns.release(need);
        throw refuse('resting', Math.max(1, Math.ceil(this.#circuit.restMs / 1_000)));
      }
      const begun = monotonic();
      try {
        const done = await ask(signal);
        this.#circuit.worked();
        metrics?.bodyStore(operation, monotonic() - begun);
        return done;
      } catch (error) {
        this.#circuit.failed(admission);
        metrics?.bodyStoreFailure(operation, signal.aborted ? 'late' : 'unavailable');
        throw error;
      } finally {
        turns.release(need);
      }
    });
  }
}

const NEVER = new AbortController().signal;
