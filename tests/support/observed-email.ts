import { EMAIL_STATES, type EmailState, emailMachine } from '../../machines/email.ts';
import type { EmailContext, EmailInput } from '../../machines/email-context.ts';
import type { RecipientOutcome, RecordedEvent } from '../../machines/email-progress.ts';
import { type ActorEvent, decodeState } from '../../src/engine/kind.ts';
import { BEGINNINGS } from './engine-email-model.ts';
import { LoneActor } from './lone-actor.ts';

/** An email with everything its effects have told so far. */
export class Observed extends LoneActor<EmailContext> {
  readonly recorded: RecordedEvent[] = [];
  readonly suppressed: number[] = [];
  transmissions = 0;
  declined = 0;
  refunds = 0;

  constructor(readonly input: EmailInput) {
    super(emailMachine, input, input.at);
    this.#observe();
  }

  override get state(): EmailState {
    return decodeState({ states: EMAIL_STATES }, super.state);
  }

  override tell(event: ActorEvent): boolean {
    const taken = super.tell(event);
    if (taken) this.#observe();
    if (taken && event.type === 'attempt.declined') this.declined++;
    return taken;
  }

  #observe(): void {
    for (const { type, params } of this.effects) {
      if (type === 'transmit') this.transmissions++;
      if (type === 'refund') this.refunds++;
      if (type === 'record') this.recorded.push(...(params as { events: readonly RecordedEvent[] }).events);
      if (type === 'suppress')
        this.suppressed.push(...(params as { recipients: readonly number[] }).recipients);
    }
  }
}

/** A live email whose first attempt is under way. */
export const sending = (input: EmailInput = BEGINNINGS['a live email to two']): Observed =>
  new Observed(input);
/** What became of one recipient. */
export const outcome = (
  recipient: number,
  what: RecipientOutcome['outcome'],
  reason?: RecipientOutcome['reason'],
): RecipientOutcome => ({
  recipient,
  outcome: what,
  ...(reason === undefined ? {} : { reason }),
  data: {},
});
/** The end of an attempt. */
export const completed = (at: number, attempt: number, ...outcomes: RecipientOutcome[]): ActorEvent =>
  ({ type: 'attempt.completed', at, attempt, outcomes }) as ActorEvent;
