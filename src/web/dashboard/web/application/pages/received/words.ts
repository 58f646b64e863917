import type { ReceivedItem } from '../../../../../client/operations.ts';
import type { Tone } from '../../ui/display/event-looks.ts';

/** The tone of each status of a received message. */
export const TONES = {
  stored: 'waiting',
  posting: 'moving',
  posted: 'good',
  forwarded: 'good',
  kept: 'good',
  failed: 'bad',
} as const satisfies Record<ReceivedItem['status'], Tone>;

/** The author of a message; reports and other answers of servers have none. */
export const senderOf = ({ from, envelope }: Pick<ReceivedItem, 'from' | 'envelope'>): string =>
  from ?? (envelope.from || 'a server');

/** The subject of a message, or that it has none. */
export const subjectOf = ({ subject }: Pick<ReceivedItem, 'subject'>): string => subject || '(no subject)';

/** The author by whether a message is automatic. */
export const WRITTEN_BY = { false: 'A person', true: 'A program' } as const;
