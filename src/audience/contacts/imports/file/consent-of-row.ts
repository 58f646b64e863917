import type { StatusReading } from '../../../../mail/list-files/consent-columns.ts';
import {
  folded,
  isBlank,
  type LeaveReason,
  type Meaning,
  meaningOf,
  reasonMeaning,
  stronger,
  wordMeaning,
} from '../../../../mail/list-files/consent-words.ts';
import { withoutGuard } from '../../../../platform/csv/write.ts';
import type { Target } from '../../column-names.ts';
import { later } from '../../read-contact.ts';
import { dateOf } from './cells.ts';

/**
 * The status in one cell. `unsaid`: the cell is empty in a column that would say `subscribed`. `unknown`: the
 * reader does not understand it.
 */
export type CellStatus = 'subscribed' | 'never' | 'unsaid' | 'nothing' | 'unknown' | LeaveReason;

type StatusTarget = Extract<Target, { readonly to: 'status' }>;

/** True for a day, in either order. */
export const saysDate = (text: string): boolean =>
  dateOf(text, 'dmy') !== null || dateOf(text, 'mdy') !== null;

/**
 * The reader of each kind of column. A reason is read as a whole: `You sent too much spam` is no complaint.
 */
const MEANING: Readonly<Record<StatusReading | 'reason', (text: string) => Meaning | null>> = {
  status: meaningOf,
  subscribed: meaningOf,
  unsubscribed: meaningOf,
  bounced: reasonMeaning,
  complained: meaningOf,
  reason: wordMeaning,
};

/**
 * Reads a cell of a column that says who may be written to. What is not understood is never taken for
 * consent.
 */
export function cellStatus(cell: string, { reads = 'status', cells }: StatusTarget): CellStatus {
  const text = withoutGuard(cell).trim();
  const states = reads === 'status' || reads === 'subscribed';
  if (isBlank(text)) return states ? 'unsaid' : 'nothing';
  const meaning = MEANING[reads === 'unsubscribed' && cells === 'anything' ? 'reason' : reads](text);
  if (reads === 'status') {
    if (meaning === null || meaning === 'yes' || meaning === 'no') return 'unknown';
    // Values alone say that a person has left, and no more: `invalid` may be a tax number.
    return cells === 'words' && (meaning === 'bounced' || meaning === 'complained')
      ? 'unsubscribed'
      : meaning;
  }
  if (reads === 'subscribed') {
    if (cells === 'words')
      return meaning === null || meaning === 'yes' || meaning === 'no' ? 'unknown' : meaning;
    if (meaning === 'yes') return 'subscribed';
    if (meaning === 'no') return cells === 'confirmation' ? 'never' : 'unsubscribed';
    return meaning ?? (saysDate(text) ? 'subscribed' : 'unknown');
  }
  if (meaning === 'no' || meaning === 'subscribed' || isNone(text)) return 'nothing';
  if (meaning === 'never') return reads === 'unsubscribed' ? meaning : 'nothing';
  if (cells === 'anything' && reads === 'bounced') return reads;
  if (meaning !== null && meaning !== 'yes') return meaning;
  switch (cells) {
    case 'anything':
      return reads;
    case 'words':
      return 'unknown';
    case 'flags':
      // CleverReach writes the second of the leaving, and 0 without one.
      return meaning === 'yes' || /^[1-9]\d{8,9}$/.test(text) ? reads : 'unknown';
    case 'confirmation':
    case undefined:
      return meaning === 'yes' || saysDate(text) ? reads : 'unknown';
  }
}

/** Python and some exports write `None` for no value. In a column of statuses it is a status. */
const isNone = (text: string): boolean => folded(text) === 'none';

/** True for a cell with the time of leaving that is not empty. */
export function saysLeft(cell: string): boolean {
  const text = withoutGuard(cell).trim();
  return !isBlank(text) && !isNone(text) && meaningOf(text) !== 'no';
}

export interface RowConsent {
  /** The status by which the person left; null when the row does not say that they left. */
  readonly leaves: LeaveReason | null;
  /** The moment of it in ISO 8601; null when the row does not say it. */
  readonly left_at: string | null;
  /** True where the row says that they unsubscribed, also beside a stronger status. */
  readonly has_unsubscribed?: true;
  /** True where the person is not subscribed when new: the row does not say that they have agreed. */
  readonly begins_out: boolean;
}

/** Gathers what the cells of one row say: the strongest counts. */
export class ConsentOfRow {
  #leaves: LeaveReason | null;
  #hasUnsubscribed: boolean;
  #isNever: boolean;
  #isUnsaid = false;
  #isSubscribed = false;
  leftAt: string | null = null;

  /** `everyone`: what the file says of all its rows. */
  constructor(everyone: LeaveReason | 'never' | null) {
    this.#leaves = everyone === 'never' ? null : everyone;
    this.#hasUnsubscribed = everyone === 'unsubscribed';
    this.#isNever = everyone === 'never';
  }

  take(status: Exclude<CellStatus, 'unknown'>): void {
    if (status === 'never') this.#isNever = true;
    else if (status === 'unsaid') this.#isUnsaid = true;
    else if (status === 'subscribed') this.#isSubscribed = true;
    else if (status !== 'nothing') this.#leaves = stronger(this.#leaves, status);
    if (status === 'unsubscribed') this.#hasUnsubscribed = true;
  }

  /**
   * A cell of a column with the time of leaving: whatever it says, the person has left. It is no
   * unsubscription beside a bounce, of which our own export has the time there.
   */
  takeTime(cell: string): void {
    if (!saysLeft(cell)) return;
    this.#leaves = stronger(this.#leaves, 'unsubscribed');
    this.leftAt = later(this.leftAt, momentText(withoutGuard(cell).trim()));
  }

  get says(): RowConsent {
    return {
      leaves: this.#leaves,
      left_at: this.#leaves ? this.leftAt : null,
      ...(this.#hasUnsubscribed && { has_unsubscribed: true as const }),
      begins_out: this.#leaves === null && (this.#isNever || (this.#isUnsaid && !this.#isSubscribed)),
    };
  }
}

/** A moment as the database takes it; null for a text that is none, or that may be two. */
export function momentText(text: string): string | null {
  const read = dateOf(text, undefined);
  const at = read === null || read === 'either' ? Number.NaN : Date.parse(read);
  return at >= 0 ? new Date(at).toISOString() : null;
}
