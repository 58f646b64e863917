import { Circuit, type CircuitState } from '../async/circuit.ts';
import { orAborted, withDeadline } from '../async/deadline.ts';
import { Semaphore } from '../async/semaphore.ts';
import { mintId } from '../db/ids.ts';
import { UnavailableError } from '../errors/unavailable.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { BODY_KINDS, type BodyOwner, bodyKey, generationClosed, readBodyKey, shelfOf } from './body-key.ts';
import type { Bucket } from './bucket.ts';
import { Generations } from './generations.ts';
import { ownerOf } from './owner.ts';

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
  /**
   * The owner that the bucket must have; null where it may be any. Absent for a command that looks at one.
   * @throws UnavailableError
   */
  readonly expectedOwner?: ((bucket: Bucket) => Promise<string | null>) | undefined;
  readonly limits?: Partial<BodyLimits>;
}

export interface BodyLimits {
  /**
   * Milliseconds in which a body is written, its wait for a turn included: a request is answered within eight
   * seconds.
   */
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
/**
 * A bucket of another database is looked at again after this time: anyone may ask for its images, again and
 * again.
 */
const EXCHANGED_MS = 30_000;
/**
 * The right bucket is looked at again after this time: another instance may have changed where the bodies
 * are.
 */
const OWN_MS = 600_000;
/** The longest that a store which was away is left alone before it is tried again. */
const LONGEST_REST_MS = 10_000;

/**
 * The contents that lie outside the database. Reading and writing have a deadline, a bound on the memory
 * under way, and rest while the server is away, so that neither requests nor mail wait for it again and
 * again.
 */
export class BodyStore {
  readonly #limits: BodyLimits;
  readonly #generations: Generations;
  readonly #circuit: Circuit;
  readonly #writing: Semaphore;
  readonly #reading: Semaphore;
  #isOwn = false;
  /** The monotonic time up to which the last answer holds. */
  #heldUntil = Number.NEGATIVE_INFINITY;
  /** The question about the owner that is under way: all wait for one. */
  #question: Promise<void> | null = null;

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

  /**
   * Makes a body durable outside; one that is shared, and that this process wrote lately, is not written
   * again. @throws UnavailableError
   */
  async write(owner: BodyOwner, octets: Uint8Array<ArrayBuffer>): Promise<WrittenBody> {
    const hash = new Bun.CryptoHasher('sha256').update(octets).digest('hex');
    const { isShared } = BODY_KINDS[owner.kind];
    const generation = isShared ? this.#generations.current : mintId('gen', this.parts.now());
    const { workspaceId } = owner;
    const key = bodyKey({ shelf: shelfOf(owner), workspaceId, generation, hash, octets: octets.length });
    const put = () =>
      withDeadline({ deadlineMs: this.#limits.writeMs }, async (signal) => {
        await this.#expectOwn(signal);
        await this.#asked('write', this.#writing, octets.length, signal, () =>
          this.bucket.put(key, octets, hash, signal),
        );
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
    const found = await withDeadline({ deadlineMs }, async (signal) => {
      const body = await this.#asked('read', this.#reading, octets, signal, () =>
        this.bucket.get(key, octets, signal),
      );
      if (!body) await this.#expectOwn(signal);
      return body;
    });
    const isSame =
      found?.length === octets && new Bun.CryptoHasher('sha256').update(found).digest('hex') === hash;
    if (found && isSame) return found;
    this.#generations.endAfterLoss(key);
    throw new BodyLost(key, found ? 'damaged' : 'missing');
  }

  /** Refuses a bucket in which every body seems lost. It is looked at until it is the right one. */
  async #expectOwn(signal: AbortSignal): Promise<void> {
    if (this.parts.monotonic() >= this.#heldUntil) {
      this.#question ??= this.#look()
        .catch((error: unknown) => {
          // The bucket that was the right one stays so until another answer comes.
          if (!this.#isOwn) throw error;
        })
        .finally(() => {
          this.#question = null;
        });
      await orAborted(this.#question, signal, late);
    }
    if (!this.#isOwn) throw new UnavailableError(EXCHANGED, 'no', 60);
  }

  /**
   * It takes no turn, and only the bucket's failures count: neither a slow database nor a refusal has the
   * store left alone.
   */
  async #look(): Promise<void> {
    const deadlineMs = this.#limits.writeMs / 2;
    await withDeadline({ deadlineMs }, async (signal) => {
      const expected = await orAborted(this.#expected(), signal, late);
      const isOwn =
        expected === null ||
        (await this.#admitted('read', signal, () => ownerOf(this.bucket, signal))) === expected;
      this.#isOwn = isOwn;
      this.#heldUntil = this.parts.monotonic() + (isOwn ? OWN_MS : EXCHANGED_MS);
    });
  }

  async #expected(): Promise<string | null> {
    return (await this.parts.expectedOwner?.(this.bucket)) ?? null;
  }

  /** Asks the bucket once there is a turn for so many octets. */
  async #asked<T>(
    operation: Operation,
    turns: Semaphore,
    octets: number,
    signal: AbortSignal,
    ask: () => Promise<T>,
  ): Promise<T> {
    const need = Math.max(octets, LEAST);
    if (!(await turns.take(need, signal))) throw this.#refused(operation, 'busy', 1);
    try {
      return await this.#admitted(operation, signal, ask);
    } finally {
      turns.release(need);
    }
  }

  /** Asks the bucket unless it is left alone. */
  async #admitted<T>(operation: Operation, signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
    const { metrics, monotonic } = this.parts;
    const admission = this.#circuit.admit();
    if (admission === null)
      throw this.#refused(operation, 'resting', Math.max(1, Math.ceil(this.#circuit.restMs / 1_000)));
    const begun = monotonic();
    try {
      const done = await ask();
      this.#circuit.worked();
      metrics?.bodyStore(operation, monotonic() - begun);
      return done;
    } catch (error) {
      this.#circuit.failed(admission);
      metrics?.bodyStoreFailure(operation, signal.aborted ? 'late' : 'unavailable');
      throw error;
    }
  }

  #refused(operation: Operation, reason: 'busy' | 'resting', seconds: number): UnavailableError {
    this.parts.metrics?.bodyStoreFailure(operation, reason);
    const says = reason === 'busy' ? 'is overloaded' : 'is unavailable, and is tried again soon';
    return new UnavailableError(`The body store ${says}.`, 'no', seconds);
  }
}

type Operation = 'read' | 'write';
const late = (): Error =>
  new UnavailableError('BODY_STORE did not say in time which database it belongs to.', 'no', 5);
