import { readBodyKey } from '../../platform/bodies/body-key.ts';
import { BodyLost, type BodyStore } from '../../platform/bodies/body-store.ts';
import { patiently } from '../../platform/bodies/owner.ts';
import type { BulkSession } from '../../platform/db/bulk-session.ts';
import { broughtInside } from '../../sending/emails/queries.ts';
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

/** A table that a database of an earlier version has not. */
const THERE = `select to_regclass('email_bodies') is not null as emails, to_regclass('received_contents') is not null as received`;

const OF_EMAILS = `select distinct b.workspace_id, b.key from email_bodies b
where (b.workspace_id, b.key) > ($1, $2) and exists (select from emails e where e.id = b.email_id)
order by b.workspace_id, b.key limit ${PAGE}`;
const OF_RECEIVED = `select distinct c.workspace_id, c.raw_key as key from received_contents c
where c.raw_key is not null and (c.workspace_id, c.raw_key) > ($1, $2) order by c.workspace_id, c.raw_key limit ${PAGE}`;

/** The next keys of both: one that is too far for one of them is read again behind the others. */
const keysSql = ({ received }: { readonly received: boolean }): string =>
  received
    ? `select * from (${OF_EMAILS}) e union select * from (${OF_RECEIVED}) r order by workspace_id, key limit ${PAGE}`
    : OF_EMAILS;

/** Reads the bodies that emails and received messages of a database have. */
export class BodyReader {
  #lost = 0;

  /** @param store null where the settings name none */
  constructor(private readonly store: BodyStore | null) {}

  /** Bodies that were not there any more, or not whole. */
  get lost(): number {
    return this.#lost;
  }

  /** Every body once. @throws BackupRefused where there are some and no store is named, UnavailableError */
  async *all(session: Pick<BulkSession, 'query'>): AsyncGenerator<Body> {
    const [tables] = await session.query<{ emails: boolean; received: boolean }>(THERE);
    for (let after = ['', '']; tables?.emails; ) {
      const rows = await session.query<{ workspace_id: string; key: string }>(keysSql(tables), after);
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
        'Contents of emails are in a BODY_STORE, and none is set: set it as for the service.',
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

const HAVING = `select e.id, encode(e.content, 'base64') as packed from email_bodies b join emails e on e.id = b.email_id
where b.workspace_id = $1 and b.key = $2`;

/** Puts the bodies of a backup where the settings want them. */
export class BodyPlacer {
  #placed = 0;

  /** @param store null puts them into the rows of their emails */
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
    else await this.#inside(place.workspaceId, key, octets);
    this.#placed++;
  }

  async #inside(workspaceId: string, key: string, octets: Uint8Array): Promise<void> {
    const rows = await this.session.query<{ id: string; packed: string }>(HAVING, [workspaceId, key]);
    for (const { id, packed } of rows)
      await this.session.query(`update emails set content = decode($2::text, 'base64') where id = $1`, [
        id,
        await broughtInside(packed, key, octets),
      ]);
    await this.session.query(
      `update received_contents set raw = decode($3::text, 'base64'), raw_key = null where workspace_id = $1 and raw_key = $2`,
      [workspaceId, key, Buffer.from(octets).toString('base64')],
    );
    await this.session.query('delete from email_bodies where workspace_id = $1 and key = $2', [
      workspaceId,
      key,
    ]);
  }
}

/** The database becomes another one than that which the store may belong to. */
export const forgetStore = (session: Pick<BulkSession, 'script'>): Promise<void> =>
  session.script('delete from body_store_owner; delete from body_collections');
