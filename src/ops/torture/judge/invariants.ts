/** The invariants that hold after any sequence of faults, each as a sentence for the report. */
export const INVARIANTS = {
  lost: 'every acknowledged email is stored',
  leftOut: 'every email of a batch is answered',
  wrongId: 'every answered id is that of the email that was sent',
  storedTwice: 'an email that was sent once is stored once',
  unexplained: 'no email is stored that was not sent, or was refused',
  keyTwice: 'one idempotency key has one answer',
  unfinished: 'every email has reached a final state',
  wrongEnd: 'every final state follows from the outcomes of the recipients',
  lostEvent: 'every expected event is recorded',
  unexpectedEvent: 'no other event is recorded, and none twice',
  doubled: 'no recipient is served again unless a lease has ended in between',
  cancelledSent: 'a cancelled email is never sent',
  tooEarly: 'a scheduled email is not sent before its time',
  foreignOutcome: 'an outcome is recorded only for its own attempt',
  undelivered: 'every event has reached the webhook receiver',
  overdelivered: 'no event is received more often than it was posted',
  missingMessage: 'every live message that counts as sent is at the mail server',
  takenTwice: 'no live message is there more than once, plus once for each unknown result',
  heldTwice: 'no live message is there twice where unknown results are held',
  unknownMessage: 'no live message is there that is not in the database',
  runsOfContact: 'every contact that begins a flow has one run of it',
  stepTwice: 'a step of a run sends one mail',
  wrongRun: 'every run has come to its end, each step done once',
  recipientTwice: 'no contact has two emails of one campaign',
  recipientMissed: 'every contact has an email of each campaign that has begun',
  wrongCampaign: 'every campaign has come to its end, with every recipient given out',
  unbalanced: 'the numbers of a campaign balance at every look',
  mailLost: 'every received message that was answered 250 is stored, whole, for each recipient',
  mailTwice: 'no received message is stored twice for a recipient',
  mailRefused: 'no received message is refused for good',
  mailForeign: 'no received message is stored that was not handed in',
  ledger: 'the audit finds no fault in the database',
} as const;

export type Invariant = keyof typeof INVARIANTS;

const EXAMPLES = 12;
const EXAMPLES_OF_ONE = 3;

/** Counts of violated invariants, with a few examples. */
export class Violations {
  readonly counts = new Map<Invariant, number>();
  readonly examples: string[] = [];

  add(invariant: Invariant, example: string): void {
    const before = this.counts.get(invariant) ?? 0;
    this.counts.set(invariant, before + 1);
    if (before < EXAMPLES_OF_ONE && this.examples.length < EXAMPLES)
      this.examples.push(`${invariant}: ${example}`);
  }
}
