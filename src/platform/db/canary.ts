import { createSealer, openOrNull, type Sealer, sealerOf } from '../crypto/sealer.ts';
import { type Keys, onlyKey, type SecretKey, secretKeyOf } from '../crypto/secret-key.ts';
import type { Database, Statements } from './database.ts';
import { IS_LIVING } from './living.ts';

const PURPOSE = 'canary';
const PLAINTEXT = 'This database is used with this key.';

/** The key is another one than the database is used with. */
export class WrongSecretKey extends Error {
  override readonly name = 'WrongSecretKey';

  /** @param replacedAt when the key was rotated away, for one that the database was used with before */
  constructor(replacedAt: Date | null = null) {
    super(
      replacedAt
        ? `SECRET_KEY is a key that this database was used with until ${replacedAt.toISOString()}, when \`posthorn secret-key rotate\` ` +
            'replaced it. Set SECRET_KEY to the new key, as on the other instances.'
        : 'SECRET_KEY is not the key that this database uses, so the sealed secrets could not be opened. ' +
            'Set SECRET_KEY to that key, or restore the file `secret-key` of the DATA_DIR that it was generated into. ' +
            'To change the key, set SECRET_KEY_PREVIOUS to the previous one and see `posthorn secret-key rotate --help`. ' +
            'If it is lost for good: `posthorn secret-key replace`.',
    );
  }
}

/** A database's record of its keys. */
interface StoredKeys {
  readonly canary: string;
  /** The oldest first. */
  readonly former: readonly FormerKey[];
}

/** A key that the database was used with before. */
export interface FormerKey {
  readonly id: string;
  readonly sealed: string;
  readonly replaced_at: string;
  /** When nothing was left that it had sealed; null until then. */
  readonly resealed_at: string | null;
  readonly links_revoked_at: string | null;
}

type Reader = Pick<Statements, 'query'>;

const READ_FORMER = `select coalesce(json_agg(f order by replaced_at, id), '[]') as former from former_secret_keys f`;

const READ_BOTH = `select (select sealed from secret_key_canary) as canary, (${READ_FORMER}) as former`;

/** @param isMigrated true where the tables are known to exist: one statement reads both then */
async function readStored(database: Reader, isMigrated = false): Promise<StoredKeys | null> {
  if (isMigrated) {
    const [both] = await database.query<{ canary: string | null; former: readonly FormerKey[] }>(
      READ_BOTH,
      [],
      { isRoutine: true },
    );
    return both?.canary == null ? null : { canary: both.canary, former: both.former };
  }
  const [tables] = await database.query<{ canary: boolean; former: boolean }>(
    `select to_regclass('secret_key_canary') is not null as canary, to_regclass('former_secret_keys') is not null as former`,
  );
  if (!tables?.canary) return null;
  const [canary] = await database.query<{ sealed: string }>('select sealed from secret_key_canary');
  if (!canary) return null;
  const [row] = tables.former
    ? await database.query<{ former: readonly FormerKey[] }>(READ_FORMER)
    : [{ former: [] }];
  return { canary: canary.sealed, former: row?.former ?? [] };
}

/** True when the database has been used with a key. */
export const isBound = async (database: Reader): Promise<boolean> => (await readStored(database)) !== null;

/** The keys that the database used before the current one, the oldest first. */
export const readFormerKeys = async (database: Reader): Promise<readonly FormerKey[]> =>
  (await readStored(database))?.former ?? [];

const opensCanary = (sealer: Sealer, canary: string): boolean =>
  openOrNull(sealer, canary, PURPOSE) === PLAINTEXT;

/** True when the key is the one that the database is used with; null where it was never used with any. */
export async function isItsKey(database: Reader, sealer: Sealer): Promise<boolean | null> {
  const stored = await readStored(database);
  return stored && opensCanary(sealer, stored.canary);
}

/**
 * The keys of a database: the one of these that it is used with, the others of these, and those that it was
 * used with before. Null where it was never used with any. @param isMigrated true where the tables are known
 * to exist @throws WrongSecretKey
 */
export async function readKeys(
  database: Reader,
  offered: readonly string[],
  isMigrated = false,
): Promise<Keys | null> {
  const stored = await readStored(database, isMigrated);
  if (!stored) return null;
  const keys = offered.map(secretKeyOf);
  const current = keys.find(({ text }) => opensCanary(createSealer(text), stored.canary));
  if (!current) {
    const former = stored.former.find(({ id }) => id === keys[0]?.id);
    throw new WrongSecretKey(former ? new Date(former.replaced_at) : null);
  }
  const chain = openChain(current, stored.former);
  const others = new Map([...keys, ...chain].map((key) => [key.id, key]));
  others.delete(current.id);
  return {
    current,
    others: [...others.values()],
    revoked: new Set(stored.former.flatMap(({ id, links_revoked_at: at }) => (at === null ? [] : [id]))),
    first: chain[0] ?? current,
    named: stored.canary.startsWith('sealed:2:'),
  };
}

/** The former keys that the current key opens, the oldest first: each is sealed with a later one. */
function openChain(current: SecretKey, former: readonly FormerKey[]): readonly SecretKey[] {
  const opened = new Map<string, SecretKey>();
  const sealer = sealerOf(() => ({ ...onlyKey(current.text), others: [...opened.values()] }));
  for (let before = -1; before < opened.size; ) {
    before = opened.size;
    for (const { id, sealed } of former) {
      const text = opened.has(id) ? null : openOrNull(sealer, sealed, `former secret key ${id}`);
      if (text !== null) opened.set(id, secretKeyOf(text));
    }
  }
  return former.flatMap(({ id }) => opened.get(id) ?? []);
}

/**
 * Seals for the canary, with the key named: a version that cannot read such texts must not continue with the
 * key.
 */
const namedCanary = (key: SecretKey): string =>
  sealerOf(() => ({ ...onlyKey(key.text), named: true })).seal(PLAINTEXT, PURPOSE);

/**
 * Binds a database to another key than before. Nothing that was sealed with that one can be opened any more.
 */
export async function bindAnew(database: Database, secretKey: string): Promise<void> {
  await database.query(
    'insert into secret_key_canary (sealed) values ($1) on conflict (one) do update set sealed = excluded.sealed',
    [namedCanary(secretKeyOf(secretKey))],
  );
}

/**
 * Binds a database that is new to the key. @throws WrongSecretKey where it is bound to another one than these
 */
export async function bindToKey(database: Database, offered: readonly [string, ...string[]]): Promise<Keys> {
  await database.query('insert into secret_key_canary (sealed) values ($1) on conflict (one) do nothing', [
    createSealer(offered[0]).seal(PLAINTEXT, PURPOSE),
  ]);
  const keys = await readKeys(database, offered);
  if (!keys) throw new WrongSecretKey();
  return keys;
}

/** Not while an instance lives that could not open what is sealed from then on. */
const TURN = `with turned as (
  update secret_key_canary set sealed = $2 where sealed = $1 and not exists (
    select from service_instances where ${IS_LIVING} and not coalesce($5 = any(secret_keys), false)
  ) returning one
)
insert into former_secret_keys (id, sealed, replaced_at)
select $3, $4, clock_timestamp() from turned
on conflict (id) do update set sealed = excluded.sealed, resealed_at = null
returning id`;

/**
 * Makes the database use another key from now on, and stores the current one sealed with it. False if that is
 * no longer its key, or a living instance lacks the other one.
 */
export async function turnTo(database: Database, { current }: Keys, next: SecretKey): Promise<boolean> {
  const stored = await readStored(database);
  if (!stored || !opensCanary(createSealer(current.text), stored.canary)) return false;
  const sealer = sealerOf(() => ({ ...onlyKey(next.text), named: true }));
  const sealed = sealer.seal(current.text, `former secret key ${current.id}`);
  const canary = namedCanary(next);
  const turned = await database.query(TURN, [stored.canary, canary, current.id, sealed, next.id]);
  return turned.length === 1;
}
