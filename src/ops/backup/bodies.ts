import { isExchanged } from '../../engine/bodies/exchanged.ts';
import { nextReferences, presentHolders } from '../../engine/bodies/references.ts';
import { BODY_HOLDERS } from '../../modules.ts';
import { readBodyKey } from '../../platform/bodies/body-key.ts';
import { BodyLost, type BodyStore } from '../../platform/bodies/body-store.ts';
import type { BodyHolder } from '../../platform/bodies/holder.ts';
import { patiently } from '../../platform/bodies/owner.ts';
import type { BulkSession } from '../../platform/db/bulk-session.ts';
import { BackupRefused } from './refused.ts';

/** A body, and where it lay. */
interface Body {
  readonly key: string;
  readonly octets: Uint8Array;
}

/** The keys of one page. */
const PAGE = 500;
/** The octets that are read ahead; a larger body goes alone. */
const AHEAD = 33_554_432;

/**
 * SQL: the next keys of all holders; one that is too far for some of them is read again behind the others.
 */
const keysOf = (holders: readonly BodyHolder[]): string =>
  `select distinct workspace_id, key from (
${holders.map((holder) => `(${nextReferences(holder, PAGE)})`).join('\nunion all\n')}
) next order by workspace_id, key limit ${PAGE}`;

/** Reads the bodies that a database refers to. */
export class BodyReader {
  #lost = 0;
  #isExchanged = false;

  /** @param store null where the settings name none */
  constructor(private readonly store: BodyStore | null) {}

  /** Bodies that were not there any more, or not whole. */
  get lost(): number {
    return this.#lost;
  }

  /**
   * True where the store is another one than that with the bodies. They may be lost for good, and the rest is
   * worth a backup even more.
   */
  get isExchanged(): boolean {
    return this.#isExchanged;
  }

  /** Every body once. @throws BackupRefused where there are some and no store is named, UnavailableError */
  async *all(session: Pick<BulkSession, 'query'>): AsyncGenerator<Body> {
    const holders = await presentHolders(session, BODY_HOLDERS);
    if (this.store) this.#isExchanged = await isExchanged(this.store.bucket, session, BODY_HOLDERS);
    for (let after = ['', '']; holders.length > 0; ) {
      const rows = await session.query<{ workspace_id: string; key: string }>(keysOf(holders), after);
      const last = rows.at(-1);
      if (!last) return;
      yield* this.#read(rows.map(({ key }) => key));
      after = [last.workspace_id, last.key];
    }
  }

  async *#read(keys: readonly string[]): AsyncGenerator<Body> {
    const { store } = this;
    if (!store)
      throw new BackupRefused(
        'Contents of emails, received messages or images are in a BODY_STORE, and none is set: set it as for the service.',
      );
    for (let from = 0; from < keys.length; ) {
      const some = [keys[from] ?? ''];
      for (let octets = octetsOf(some[0]); from + some.length < keys.length; ) {
        const next = keys[from + some.length] ?? '';
        octets += octetsOf(next);
        if (octets > AHEAD || some.length === 16) break;
        some.push(next);
      }
      const read = await Promise.all(some.map((key) => this.#one(store, key)));
      yield* read.flatMap((one) => one ?? []);
      from += some.length;
    }
  }

  async #one(store: BodyStore, key: string): Promise<Body | null> {
    try {
      return { key, octets: await store.read(key) };
    } catch (error) {
      if (!(error instanceof BodyLost)) throw error;
      this.#lost++;
      return null;
    }
  }
}

const octetsOf = (key = ''): number => readBodyKey(key)?.octets ?? 0;

/** Puts the bodies of a backup where the settings want them. */
export class BodyPlacer {
  #placed = 0;
  #present: Promise<readonly BodyHolder[]> | null = null;

  /** @param store null puts them into the rows that refer to them */
  constructor(
    private readonly session: Pick<BulkSession, 'query'>,
    private readonly store: BodyStore | null,
  ) {}

  get placed(): number {
    return this.#placed;
  }

  /** @throws BackupRefused for one that is not what its key says, UnavailableError */
  async add({ key, octets }: Body): Promise<void> {
    const place = readBodyKey(key);
    const hash = new Bun.CryptoHasher('sha256').update(octets).digest('hex');
    if (place?.hash !== hash || place.octets !== octets.length)
      throw new BackupRefused(`The body ${key} of the backup does not match its name.`);
    const { store } = this;
    if (store)
      await patiently((signal) => store.bucket.put(key, octets as Uint8Array<ArrayBuffer>, hash, signal));
    else
      for (const holder of await this.#holders())
        await holder.bringInside(this.session, { workspaceId: place.workspaceId, key, octets });
    this.#placed++;
  }

  /** A backup of an earlier version lacks some of their columns. */
  #holders(): Promise<readonly BodyHolder[]> {
    this.#present ??= presentHolders(this.session, BODY_HOLDERS);
    return this.#present;
  }
}

/** The database becomes another one than that which the store may belong to. */
export const forgetStore = (session: Pick<BulkSession, 'script'>): Promise<void> =>
  session.script('delete from body_store_owner; delete from body_collections');
