import { isId, timeOfId } from '../db/ids.ts';

/** The traits of a kind of rows that refer to bodies. */
interface BodyTraits {
  /**
   * True where bodies lie by environment and day, because retention ends them; false where they stay until
   * their rows are deleted.
   */
  readonly isDated: boolean;
  /**
   * True where the rows of an hour share what they have in common. An image is shared by its row already: its
   * octets are written at each upload, so that they are there whatever happened to the store since the last
   * one.
   */
  readonly isShared: boolean;
}

/**
 * Everything that refers to bodies. A further kind also decides in `BODY_HOLDERS` (src/modules.ts) how its
 * bodies are found, kept, audited, backed up and restored.
 */
export const BODY_KINDS = {
  email: { isDated: true, isShared: true },
  received: { isDated: true, isShared: true },
  asset: { isDated: false, isShared: false },
} as const satisfies Readonly<Record<string, BodyTraits>>;

export type BodyKind = keyof typeof BODY_KINDS;

type DatedKind = {
  [Kind in BodyKind]: (typeof BODY_KINDS)[Kind]['isDated'] extends true ? Kind : never;
}[BodyKind];

type Environment = 'live' | 'test';

/**
 * The folder of bodies that are looked through together: a day of an environment (UTC), as in
 * `live/2026-11-24`, and what has no age.
 */
export type Shelf = 'kept' | `${Environment}/${string}`;

/** The shelf of what has no age. */
export const KEPT_SHELF = 'kept' satisfies Shelf;

/** The owner of a body; its generation, its hash and its size come with its octets. */
export type BodyOwner = { readonly workspaceId: string } & (
  | {
      readonly kind: DatedKind;
      readonly livemode: boolean;
      /** The UTC day of the mail that has it, as `2026-11-24`. */
      readonly day: string;
    }
  | { readonly kind: Exclude<BodyKind, DatedKind> }
);

/** The facts about a body that its key contains. */
export interface BodyPlace {
  readonly shelf: Shelf;
  readonly workspaceId: string;
  /** The bodies that one process wrote within a while; only rows that were stored then refer to it. */
  readonly generation: string;
  /** SHA-256 of its octets, in hexadecimal. */
  readonly hash: string;
  readonly octets: number;
}

const SHAPE =
  /^(kept|(?:live|test)\/\d{4}-\d\d-\d\d)\/(ws_[0-9a-z]+)\/(gen_[0-9a-z]+)\/([0-9a-f]{64})-(\d{1,10})$/;

/** The UTC day of a moment (epoch ms), as keys have it. */
export const bodyDay = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The prefix of all keys of an environment's mail. */
export const environmentPrefix = (livemode: boolean): `${Environment}/` => (livemode ? 'live/' : 'test/');

/** The shelf of an owner's bodies. */
export const shelfOf = (owner: BodyOwner): Shelf =>
  'day' in owner ? `${environmentPrefix(owner.livemode)}${owner.day}` : KEPT_SHELF;

/**
 * `live/2026-11-24/ws_…/gen_…/<hash>-<octets>` or `kept/ws_…/gen_…/<hash>-<octets>`: bodies that are removed
 * together have one prefix, first the shelf, in it a workspace; and the key says which octets have to come
 * back.
 */
export const bodyKey = ({ shelf, workspaceId, generation, hash, octets }: BodyPlace): string =>
  `${shelf}/${workspaceId}/${generation}/${hash}-${octets}`;

/** Reads a key; null for any other object in the bucket. */
export function readBodyKey(key: string): BodyPlace | null {
  const [, shelf, workspaceId = '', generation = '', hash = '', octets] = SHAPE.exec(key) ?? [];
  if (shelf === undefined || !isId('gen', generation)) return null;
  return { shelf: shelf as Shelf, workspaceId, generation, hash, octets: Number(octets) };
}

/** The folder of a workspace on a shelf that a key lies in, with a slash at its end. */
export const folderOf = (key: string): string => key.slice(0, key.indexOf('/gen_') + 1);

/** The time (epoch ms) for which the bodies of a generation are given to further rows. */
const GENERATION_MS = 60 * 60_000;
/**
 * The time beyond it in which a row that was given one may still be stored: a request ends within seconds.
 */
const STORED_WITHIN_MS = 10 * 60_000;

/** From then on no row gets a body of that generation. */
export const generationEnd = (generation: string): number => timeOfId(generation) + GENERATION_MS;

/** From then on (by the database's clock) no row with a body of that generation is stored. */
export const generationClosed = (generation: string): number => generationEnd(generation) + STORED_WITHIN_MS;
