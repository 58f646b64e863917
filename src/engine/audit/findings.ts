/** The checks in the order of the report, each with the sentence that it proves. */
export const CHECKS = {
  journals: 'the journal has every revision of every actor once, and its last step is the state',
  snapshots: 'state, version, timers and columns agree with the snapshot',
  overdue: 'no actor waits longer than its timer says',
  inserts: 'every actor without a turn has a due row, or is found when its instance is gone',
  events: "every recipient's events agree with the outcome, none twice",
  outcomes: 'the state of an email follows from its recipients',
  bodies: 'every body that an email, a received message or an image refers to is in the store',
  quotas: 'the used units equal those accepted, less those returned',
  replies: 'stored replies name emails that exist',
  mail: 'events between actors arrive within a minute',
  attempts: 'every delivery that succeeded has an attempt that did',
  deliveries: 'every event has a delivery for each endpoint that subscribes to it',
  positions: 'the next event lies behind all others in the event log',
  ledgers: 'the counts of a campaign agree with its recipients, and no recipient has two of its emails',
  flows: 'no contact is twice in a flow, no step was done twice, and the counts agree with the runs',
  analytics: 'the hourly counts are the sums of their quarters',
  transactions: 'no transaction is left open',
} as const;

export type Check = keyof typeof CHECKS;

/** A row that disagrees: its id and what is wrong with it, without personal data. */
export interface Fault {
  readonly check: Check;
  readonly id: string;
  readonly what: string;
}

/** This many rows of one check are named; further ones are only counted. */
const NAMED = 20;

/**
 * The findings of an audit: how much was read, and what disagreed. Their size is bounded, however much is
 * wrong.
 */
export class Findings {
  readonly #looked = new Map<Check, number>();
  readonly #wrong = new Map<Check, number>();
  readonly #named: Fault[] = [];
  readonly #notes: string[] = [];

  /** Adds this many checked rows. */
  look(check: Check, rows: number): void {
    this.#looked.set(check, this.lookedAt(check) + rows);
  }

  wrong(check: Check, id: string, what: string): void {
    const before = this.wrongOf(check);
    this.#wrong.set(check, before + 1);
    if (before < NAMED) this.#named.push({ check, id, what });
  }

  /** Adds a remark that is no fault. */
  note(sentence: string): void {
    this.#notes.push(sentence);
  }

  lookedAt(check: Check): number {
    return this.#looked.get(check) ?? 0;
  }

  wrongOf(check: Check): number {
    return this.#wrong.get(check) ?? 0;
  }

  /** The number of rows that disagree, over all checks. */
  get total(): number {
    return [...this.#wrong.values()].reduce((sum, wrong) => sum + wrong, 0);
  }

  get named(): readonly Fault[] {
    return this.#named;
  }

  get notes(): readonly string[] {
    return this.#notes;
  }
}
