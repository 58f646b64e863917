import { nanoid } from 'nanoid';
import type { EmailContext, EmailEvent } from '../../../../machines/email-context.ts';
import { mayBeTried } from '../../../../machines/email-progress.ts';
import type { TellActor } from '../../../engine/performers.ts';
import type { Clock } from '../../../time/clock.ts';

/** What an attempt of live mail needs around it. */
export interface AttemptParts {
  readonly clock: Clock;
  readonly tell: TellActor;
  /** From the moment that an attempt was begun to the last one at which something may be opened for it. */
  readonly endsAfterMs: (leaseMs: number) => number;
  /** Nothing is to begin any more. */
  readonly isStopping: () => boolean;
}

/**
 * One attempt on its way to being begun. Any number of processes may have the order for it: the one whose beginning is
 * durable first has the attempt, and nobody else opens anything.
 */
export class LiveAttempt {
  /** Names this attempt among those that other processes, or this one, may have wanted to begin instead. */
  readonly by = nanoid();
  readonly attempt: number;
  #begun: Promise<EmailContext | null> | undefined;
  #isUncertain = false;

  constructor(
    { attempt }: Pick<EmailContext, 'attempt'>,
    private readonly parts: AttemptParts,
  ) {
    this.attempt = attempt + 1;
  }

  /** Whether the copy of that recipient may leave now. The first one that asks begins the attempt for all. */
  async mayLeave(recipient: number): Promise<boolean> {
    this.#begun ??= this.#begin();
    const context = await this.#begun;
    if (context === null) return false;
    const { at, leaseMs, recipients, holdsDoubt } = context;
    const known = recipients[recipient];
    // A process that stood still meanwhile may have lost the attempt; of a recipient a report may have come in.
    const isInTime = this.parts.clock.now() < at + this.parts.endsAfterMs(leaseMs);
    return isInTime && known !== undefined && mayBeTried(known, holdsDoubt);
  }

  /** What the actor is to be told in the end, given what came of it. */
  async told(outcome: () => readonly EmailEvent[]): Promise<readonly EmailEvent[]> {
    const { attempt, by } = this;
    const at = this.parts.clock.now();
    // Nothing had to be opened to know what became of it: beginning and end are one write.
    if (this.#begun === undefined)
      return this.parts.isStopping() ? [] : [{ type: 'attempt.begun', at, attempt, by }, ...outcome()];
    if (await this.#begun) return outcome();
    // Whether it was begun could not be found out. If it was, nothing was opened for it all the same.
    return this.#isUncertain ? [{ type: 'attempt.declined', at, attempt, by }] : [];
  }

  async #begin(): Promise<EmailContext | null> {
    const { clock, tell, isStopping } = this.parts;
    if (isStopping()) return null;
    try {
      const { attempt, by } = this;
      const told = await tell({ type: 'attempt.begun', at: clock.now(), attempt, by } as EmailEvent);
      if (told.outcome !== 'changed' || told.state !== 'sending') return null;
      const context = told.context as EmailContext;
      return context.begunBy === by ? context : null;
    } catch {
      this.#isUncertain = true;
      return null;
    }
  }
}
