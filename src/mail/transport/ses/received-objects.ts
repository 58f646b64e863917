import { withDeadline } from '../../../platform/async/deadline.ts';
import { Semaphore } from '../../../platform/async/semaphore.ts';
import type { BucketAddress } from '../../../platform/bodies/address.ts';
import { Bucket, type BucketSettings } from '../../../platform/bodies/bucket.ts';
import { UnavailableError } from '../../../platform/errors/unavailable.ts';
import { LARGEST_INBOUND } from '../../received/inbound-server.ts';

/** The bucket of received messages, and who asks. */
export interface ReceivedObjectsParts
  extends Pick<BucketSettings, 'endpoint' | 'accessKeyId' | 'secretAccessKey' | 'ca' | 'now'> {
  readonly address: BucketAddress;
  readonly limits?: Partial<typeof LIMITS>;
}

const MIB = 1_048_576;
/**
 * SNS waits 15 seconds for an answer. The message has its place in memory until it is stored, and may wait
 * for the spam filter there.
 */
const LIMITS = { waitMs: 5_000, readMs: 4_000, octets: LARGEST_INBOUND };
/** MiB of messages in memory at once: three of the largest, or so many small ones. */
const MIB_AT_ONCE = 96;
const MOST_WAITING = 64;
/**
 * The characters of keys that S3 calls safe, in folders that do not begin with a dot: no URL gives them
 * another meaning.
 */
const KEY = /^[\w!*'()-][\w!.*'()-]*(?:\/[\w!*'()-][\w!.*'()-]*)*$/;
const LONGEST_KEY = 1_024;
/** Fetches the messages that SES has stored in a bucket. */
export class ReceivedObjects {
  readonly #buckets = new Map<string, Bucket>();
  readonly #turns = new Semaphore(MIB_AT_ONCE, undefined, MOST_WAITING);
  readonly #limits: typeof LIMITS;

  constructor(private readonly parts: ReceivedObjectsParts) {
    this.#limits = { ...LIMITS, ...parts.limits };
  }

  /**
   * True for a place that may be read: in the bucket and under its prefix, and under the folder of the
   * workspace where there is one.
   */
  mayRead(
    { bucket, key }: { readonly bucket: string; readonly key: string },
    workspaceId: string | null,
  ): boolean {
    const { address } = this.parts;
    const within = `${address.prefix}${workspaceId === null ? '' : `${workspaceId}/`}`;
    return bucket === address.bucket && key.length <= LONGEST_KEY && KEY.test(key) && key.startsWith(within);
  }

  /**
   * Hands over the octets of a message, which stay in memory until they were used; null for one that is
   * larger than any may be.
   * @throws UnavailableError also for one that is missing
   */
  async use<Result>(
    region: string,
    key: string,
    act: (octets: Buffer | null) => Promise<Result>,
  ): Promise<Result> {
    const { waitMs, octets: most } = this.#limits;
    const bucket = this.#bucket(region);
    const size = await this.#read((signal) => bucket.size(key, signal));
    if (size !== null && size > most) return act(null);
    const room = size ?? most;
    const need = Math.max(1, Math.ceil(room / MIB));
    const hasTurn = await withDeadline({ deadlineMs: waitMs }, async (signal) =>
      this.#turns.take(need, signal),
    );
    if (!hasTurn) throw new UnavailableError('Too many messages of SES_INBOUND_BUCKET are read at once.');
    try {
      const found = await this.#read((signal) => bucket.get(key, room, signal));
      if (found === null)
        throw new UnavailableError('A message is not in SES_INBOUND_BUCKET any more, or not yet.', 'no', 60);
      if (found.length > room && room < most)
        throw new UnavailableError(
          'A message of SES_INBOUND_BUCKET was replaced while it was read.',
          'no',
          60,
        );
      return await act(
        found.length > most ? null : Buffer.from(found.buffer, found.byteOffset, found.length),
      );
    } finally {
      this.#turns.release(need);
    }
  }

  /** @throws UnavailableError so that SNS tries again */
  async #read<Found>(ask: (signal: AbortSignal) => Promise<Found>): Promise<Found> {
    return withDeadline({ deadlineMs: this.#limits.readMs }, ask).catch((cause) => {
      throw new UnavailableError('A message could not be read from SES_INBOUND_BUCKET.', 'no', 60, { cause });
    });
  }

  #bucket(region: string): Bucket {
    const known = this.#buckets.get(region);
    if (known) return known;
    const { address, endpoint, accessKeyId, secretAccessKey, ca, now } = this.parts;
    const settings = { endpoint, accessKeyId, secretAccessKey, ca, now, region };
    const bucket = new Bucket({ ...settings, bucket: address.bucket, prefix: '' });
    this.#buckets.set(region, bucket);
    return bucket;
  }
}
