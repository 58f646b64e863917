import { ID_ALPHABET } from '../../../db/ids.ts';

/** Of the sixteen bytes of a UUID, all but the two that hold its version and its variant. */
const RANDOM_BYTES = [0, 1, 2, 3, 4, 5, 7, 9, 10, 11, 12, 13, 14, 15] as const;

const character = (byte: number): string =>
  `substr('${ID_ALPHABET}', (get_byte(d.dice, ${byte}) & 31) + 1, 1)`;

/**
 * SQL of a delivery's id, for deliveries that a statement makes itself: the moment of its event, then 70 random bits.
 * Whoever looks for the deliveries of an event thus finds them by their ids. Reads `d.event_id` and `d.dice`.
 */
export const DELIVERY_ID_SQL = `'dlv_' || substr(d.event_id, 5, 10) || ${RANDOM_BYTES.map(character).join(' || ')}`;

/** SQL of the random bytes behind it; in a subquery, so that they are rolled once a row. */
export const RANDOM_BYTES_SQL = 'uuid_send(gen_random_uuid()) as dice';
