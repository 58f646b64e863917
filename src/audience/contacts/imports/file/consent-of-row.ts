import { folded, type Leaving, meaningOf, stronger } from '../../../../mail/list-files/consent-words.ts';
import { withoutGuard } from '../../../../platform/csv/write.ts';
import type { Target } from '../../column-names.ts';
import { dateOf } from './cells.ts';

/** What one cell says. `unsaid`: it is empty where a person would be called subscribed. `unknown`: it is not understood. */
export type CellStatus = 'subscribed' | 'never' | 'unsaid' | 'nothing' | 'unknown' | Leaving;

type StatusTarget = Extract<Target, { readonly to: 'status' }>;

/** Reads a cell of a column that says who may be written to. What is not understood is never taken for consent. */
export function cellStatus(cell: string, { reads = 'status', details }: StatusTarget): CellStatus {
  const text = withoutGuard(cell).trim();
  const states = reads === 'status' || reads === 'subscribed';
  if (text === '') return states ? 'unsaid' : 'nothing';
  const meaning = meaningOf(text);
  const isNo = meaning === 'no' || /^(?:none|null|-+)$/.test(folded(text) || text);
  switch (reads) {
    case 'status':
      return meaning === null || meaning === 'yes' || meaning === 'no' ? 'unknown' : meaning;
    case 'subscribed':
      if (meaning === 'yes') return 'subscribed';
      if (meaning === 'no') return 'unsubscribed';
      return (
        meaning ?? (dateOf(text, 'dmy') === null && dateOf(text, 'mdy') === null ? 'unknown' : 'subscribed')
      );
    case 'unsubscribed':
      if (isNo || meaning === 'subscribed') return 'nothing';
      if (meaning === 'bounced' || meaning === 'complained' || meaning === 'never') return meaning;
      if (meaning !== null || details) return 'unsubscribed';
      return dateOf(text, 'dmy') === null && dateOf(text, 'mdy') === null ? 'unknown' : 'unsubscribed';
    case 'bounced':
      if (isNo || meaning === 'never' || meaning === 'subscribed') return 'nothing';
      return meaning === 'complained' ? meaning : 'bounced';
    case 'complained':
      return isNo || meaning === 'subscribed' ? 'nothing' : 'complained';
  }
}

/** What a row says of a person's consent. */
export interface RowConsent {
  /** How the person has left; null where the row does not say so. */
  readonly leaves: Leaving | null;
  /** When, in ISO 8601; null where the row does not say so. */
  readonly left_at: string | null;
  /** True where the person is not subscribed when new: the row does not say that they have agreed. */
  readonly begins_out: boolean;
}

/** Gathers what the cells of one row say: the strongest counts. */
export class ConsentOfRow {
  #leaves: Leaving | null;
  #isNever: boolean;
  #isUnsaid = false;
  #isSubscribed = false;
  leftAt: string | null = null;

  /** `everyone`: what the file says of all its rows. */
  constructor(everyone: Leaving | 'never' | null) {
    this.#leaves = everyone === 'never' ? null : everyone;
    this.#isNever = everyone === 'never';
  }

  take(status: Exclude<CellStatus, 'unknown'>): void {
    if (status === 'never') this.#isNever = true;
    else if (status === 'unsaid') this.#isUnsaid = true;
    else if (status === 'subscribed') this.#isSubscribed = true;
    else if (status !== 'nothing') this.#leaves = stronger(this.#leaves, status);
  }

  /** A cell of a column with the time of leaving: whatever it says, the person has left. */
  takeTime(cell: string): void {
    const text = withoutGuard(cell).trim();
    if (text === '' || meaningOf(text) === 'no') return;
    this.#leaves = stronger(this.#leaves, 'unsubscribed');
    this.leftAt = momentText(text);
  }

  get says(): RowConsent {
    return {
      leaves: this.#leaves,
      left_at: this.#leaves ? this.leftAt : null,
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
