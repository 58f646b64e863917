import { getRandomValues } from 'node:crypto';
import { customRandom } from 'nanoid';

/** Crockford's base32, lower case: no i, l, o, u, so that an id can be read aloud and never spells a word. */
export const ID_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_LENGTH = 10;
const RANDOM_LENGTH = 14;

/**
 * Random bytes for 512 ids: to ask the system for those of each one takes longer than all the rest of an id.
 */
const pool = Buffer.alloc(RANDOM_LENGTH * 512);
let poolAt = pool.length;

const randomPart = customRandom(ID_ALPHABET, RANDOM_LENGTH, (size) => {
  if (poolAt + size > pool.length) {
    getRandomValues(pool);
    poolAt = 0;
  }
  poolAt += size;
  return pool.subarray(poolAt - size, poolAt);
});

/**
 * The kind of thing that an id names: two to four lower-case letters before the underscore, stated by its
 * module.
 */
export type IdPrefix = string;

let lastTime = -1;
let lastTimePart = '';

/**
 * Writes a time (epoch milliseconds) as the ten characters that it takes in an id; they sort as the times do.
 */
export function timePart(atMs: number): string {
  if (atMs === lastTime) return lastTimePart;
  let rest = Math.max(0, Math.floor(atMs));
  let text = '';
  for (let i = 0; i < TIME_LENGTH; i++) {
    text = ID_ALPHABET[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  lastTime = atMs;
  lastTimePart = text;
  return text;
}

/** SQL that writes a moment (`timestamptz`) as `timePart` does. */
export const timePartSql = (moment: string): string => `(
  select string_agg(substr('${ID_ALPHABET}', ((t.ms >> (5 * place)) & 31)::integer + 1, 1), '' order by place desc)
  from (select floor(extract(epoch from ${moment}) * 1000)::bigint as ms) t cross join generate_series(0, ${TIME_LENGTH - 1}) as place
)`;

/** Makes an id: prefix, time of creation, 70 random bits. Ids of one kind sort by creation time. */
export function mintId(prefix: IdPrefix, atMs: number): string {
  return `${prefix}_${timePart(atMs)}${randomPart()}`;
}

/** The smallest id of a kind that can be made at a time: the bound of a partition or of a time filter. */
export function lowestIdAt(prefix: IdPrefix, atMs: number): string {
  return `${prefix}_${timePart(atMs)}${'0'.repeat(RANDOM_LENGTH)}`;
}

const shapes = new Map<IdPrefix, RegExp>();

/** True when a text has the shape of an id of that kind. Any other is a 404 before any SQL. */
export function isId(prefix: IdPrefix, text: string): boolean {
  let shape = shapes.get(prefix);
  if (!shape) {
    shape = new RegExp(`^${prefix}_[${ID_ALPHABET}]{${TIME_LENGTH + RANDOM_LENGTH}}$`);
    shapes.set(prefix, shape);
  }
  return shape.test(text);
}

/** The creation time (epoch milliseconds) inside an id. */
export function timeOfId(id: string): number {
  const from = id.indexOf('_') + 1;
  if (lastTime >= 0 && id.startsWith(lastTimePart, from)) return Math.floor(lastTime);
  let at = 0;
  for (let i = from; i < from + TIME_LENGTH; i++) at = at * 32 + ID_ALPHABET.indexOf(id.charAt(i));
  return at;
}
