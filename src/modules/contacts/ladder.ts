import { CONTACT_STATUSES } from './model.ts';

const LADDER = `array[${CONTACT_STATUSES.map((status) => `'${status}'`).join(', ')}]`;

/** SQL of how strong a status is; null for the reason of a suppression that is none, such as `manual`. */
export const strength = (status: string): string => `array_position(${LADDER}, ${status})`;
