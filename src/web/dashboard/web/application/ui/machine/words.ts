import type { Machine, StateCount } from '../../../../../live/model.ts';
import { capital, roundCount, wordsOf } from '../display/format.ts';

/** From this number on, a count is too wide for the card of a state. */
const WIDE = 100_000;

/** A count as it is shown: `≈` where it rests on a sample. */
export const countText = (count: StateCount | null): string =>
  count === null ? '0' : `${count.exact ? '' : '≈ '}${roundCount(count.count, WIDE)}`;

/** `webhookDelivery` → `Webhook delivery`, `apiKey` → `API key` */
export const titleOf = (kind: string): string => capital(wordsOf(kind));

/** An id with its middle left out. */
export const shortId = (id: string): string => (id.length > 18 ? `${id.slice(0, 9)}…${id.slice(-5)}` : id);

const FIRST = ['email', 'webhookEndpoint', 'webhookDelivery', 'domain'];
const position = ({ kind }: Machine): number => (FIRST.indexOf(kind) + FIRST.length + 1) % (FIRST.length + 1);

/** The machines in reading order; unknown kinds follow in the service's order. */
export const inReadingOrder = (machines: readonly Machine[]): readonly Machine[] =>
  machines.toSorted((a, b) => position(a) - position(b));
