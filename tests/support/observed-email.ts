import type { EmailContext, EmailInput } from '../../machines/email/context.ts';
import { EMAIL_STATES, type EmailState, emailMachine } from '../../machines/email/machine.ts';
import type { RecipientOutcome, RecordedEvent } from '../../machines/email/recipient.ts';
import { type ActorEvent, decodeState } from '../../src/engine/machine/kind.ts';
import { BEGINNINGS } from './engine-email-model.ts';
import { LoneActor } from './lone-actor.ts';

/** Events that name who began the attempt. */
const OF_ATTEMPTS: ReadonlySet<string> = new Set(['attempt.begun', 'attempt.completed', 'attempt.declined']);
const ME = 'me';

/** An email with everything its effects have told so far. */
export class Observed extends LoneActor<EmailContext> {
  readonly recorded: RecordedEvent[] = [];
  readonly suppressed: number[] = [];
  /** Attempts that were begun. */
  transmissions = 0;
  offers = 0;
  declined = 0;
  refunds = 0;

  constructor(readonly input: EmailInput) {
    super(emailMachine, input, input.at);
    this.#observe();
  }

  override get state(): EmailState {
    return decodeState({ states: EMAIL_STATES }, super.state);
  }

  /**
   * Events of an attempt of live mail without a name get the name of the instance that begins all of these.
   */
  override tell(event: ActorEvent): boolean {
    const isOurs = this.input.livemode && OF_ATTEMPTS.has(event.type) && !('by' in event);
    const taken = super.tell(isOurs ? ({ ...event, by: ME } as ActorEvent) : event);
    if (taken) this.#observe();
    if (taken && event.type === 'attempt.begun') this.transmissions++;
    if (taken && event.type === 'attempt.declined') this.declined++;
    return taken;
  }

  /** Begins the next attempt, as an instance with a session does. */
  begin(at: number): boolean {
    return this.tell({ type: 'attempt.begun', at, attempt: this.context.attempt + 1 } as ActorEvent);
  }

  /** Lets the timers fire that are due then, and begins what they call for. */
  again(at: number): void {
    this.wake(at);
    if (this.input.livemode && this.state === 'queued') this.begin(at);
  }

  #observe(): void {
    for (const { type, params } of this.effects) {
      if (type === 'transmit' && this.state === 'sending') this.transmissions++;
      if (type === 'transmit' && this.state === 'queued') this.offers++;
      if (type === 'refund') this.refunds++;
      if (type === 'record') this.recorded.push(...(params as { events: readonly RecordedEvent[] }).events);
      if (type === 'suppress')
        this.suppressed.push(...(params as { recipients: readonly number[] }).recipients);
    }
  }
}

/** A live email whose first attempt is under way. */
export function sending(input: EmailInput = BEGINNINGS['a live email to two']): Observed {
  const email = new Observed(input);
  email.begin(input.at);
  return email;
}
/** The outcome of one recipient. */
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
