/** What is promised, a sentence each. */
export const INVARIANTS = {
  lost: 'every acknowledged email is there',
  leftOut: 'every email of a batch is answered',
  astray: 'and is the one that its answer was about',
  wishTwice: 'what was asked for once is there once',
  unexplained: 'nothing is there that was not asked for, or was refused',
  keyTwice: 'one idempotency key has one answer',
  unfinished: 'every email has come to its end',
  wrongEnd: 'and to the end that its recipients make of it',
  lostEvent: 'every event that its recipients call for is recorded',
  strangeEvent: 'and no other, and none twice',
  doubled: 'nobody is served again without a lease that ended in between',
  cancelledSent: 'what was cancelled is never sent',
  tooEarly: 'nothing scheduled is sent before its time',
  foreignOutcome: 'an outcome is recorded for its own attempt only',
  undelivered: 'every event has reached the receiver of webhooks',
  overdelivered: 'no event more often than it was posted',
  notThere: 'every live message that counts as sent is at the receiving server',
  takenTwice: 'none is there more often than once and once for each doubt on record',
  heldTwice: 'none is there twice where doubts are held',
  strange: 'nothing is there that is not in the database',
  ledger: 'the audit finds the ledger in order',
} as const;

/** The name of a promise. */
export type Invariant = keyof typeof INVARIANTS;

const EXAMPLES = 12;
const EXAMPLES_OF_ONE = 3;

/** The promises that were broken: how often, and a few examples. */
export class Violations {
  readonly counts = new Map<Invariant, number>();
  readonly examples: string[] = [];

  add(promise: Invariant, example: string): void {
    const before = this.counts.get(promise) ?? 0;
    this.counts.set(promise, before + 1);
    if (before < EXAMPLES_OF_ONE && this.examples.length < EXAMPLES)
      this.examples.push(`${promise}: ${example}`);
  }
}
