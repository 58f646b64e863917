import { nanoid } from 'nanoid';
import type { EmailContext, EmailEvent, Postponement } from '../../../../machines/email/context.ts';
import { mayBeTried } from '../../../../machines/email/progress.ts';
import { dateOf } from '../../../../machines/email/rules.ts';
import type { TellActor } from '../../../engine/runtime/performers.ts';
import type { Clock } from '../../../platform/time/clock.ts';

/** For so long what was read of an email counts as it is. */
const FRESH_MS = 1_000;

/** The surroundings of an attempt of live mail. */
export interface AttemptParts {
  readonly clock: Clock;
  readonly tell: TellActor;
  /** The time after its beginning in which an attempt may open sessions. */
  readonly endsAfterMs: (leaseMs: number) => number;
  /** True when the service is stopping, so that no attempt may begin. */
  readonly isStopping: () => boolean;
  /** When its preparation began, by the monotonic clock: what it was prepared with was read after that. */
  readonly preparedAt: number;
}

/**
 * One attempt that is about to begin. Several processes may have the order for it: the one whose
 * `attempt.begun` is durable first has the attempt, and no other opens a session.
 */
export class LiveAttempt {
  /**
   * Tells this attempt apart from those with the same number that other processes, or this one, tried to
   * begin.
   */
  readonly by = nanoid();
  readonly attempt: number;
  #begun: Promise<EmailContext | null> | undefined;
  #isUncertain = false;
  #isHeld = false;
  #isTakenBack = false;
  #postponed: Postponement | null = null;
  #counted: string | null = null;

  /** When its copies were made ready. */
  readonly #readyAt: number;
  /** The moment that its copies bear. */
  readonly date: number;

  constructor(
    context: Pick<EmailContext, 'attempt' | 'firstAttemptAt' | 'datedAt' | 'scheduledAt'>,
    private readonly parts: AttemptParts,
  ) {
    this.attempt = context.attempt + 1;
    this.#readyAt = parts.clock.now();
    this.date = dateOf(context, this.#readyAt);
  }

  /** True when the copy for that recipient may leave now. The first question begins the attempt for all. */
  async mayLeave(recipient: number): Promise<boolean> {
    this.#begun ??= this.#begin();
    const context = await this.#begun;
    if (context === null) return false;
    const { at, leaseMs, recipients, holdsDoubt } = context;
    const known = recipients[recipient];
    // A process that stood still may have lost the attempt meanwhile, and a report may have settled this
    // recipient.
    const isInTime = this.parts.clock.now() < at + this.parts.endsAfterMs(leaseMs);
    return isInTime && known !== undefined && mayBeTried(known, holdsDoubt);
  }

  /** Notes that it is not to begin now: the email offers itself again. */
  hold(): void {
    this.#isHeld = true;
  }

  /** True when what it was prepared with may not be so any more: it has waited. */
  get hasWaited(): boolean {
    return this.parts.clock.monotonic() - this.parts.preparedAt > FRESH_MS;
  }

  /** Notes that a copy has to wait for a server that has not got it. */
  takeBack(): void {
    this.#isTakenBack = true;
  }

  /** True when a copy has to wait: where no other came to anything, the attempt is none. */
  get isTakenBack(): boolean {
    return this.#isTakenBack;
  }

  /** Notes the transport whose day it has a part of, should a session be opened. */
  count(transport: string): void {
    this.#counted = transport;
  }

  /** True once it was asked to open a session: what it took of a day is used. */
  get isAsked(): boolean {
    return this.#begun !== undefined;
  }

  /** Notes the limit that it has to wait for. */
  postpone({ until, transport, perDay }: Postponement): void {
    this.#postponed = { until, transport, perDay };
  }

  /** True when it has to wait for a limit. */
  get isPutOff(): boolean {
    return this.#postponed !== null;
  }

  /**
   * The events for the actor at the end of the attempt, given its outcome: one without any event is taken
   * back.
   */
  async eventsWith(outcome: () => readonly EmailEvent[]): Promise<readonly EmailEvent[]> {
    const { attempt, by } = this;
    const at = this.parts.clock.now();
    if (this.#postponed && !this.#isHeld)
      return [{ type: 'attempt.postponed', at, attempt, because: this.#postponed }];
    // No session was needed to know the outcome, so beginning and end are one write.
    if (this.#begun === undefined)
      return this.parts.isStopping() || this.#isHeld
        ? []
        : [{ type: 'attempt.begun', at, attempt, by }, ...outcome()];
    const declined = { type: 'attempt.declined', at, attempt, by } as const;
    if (await this.#begun) {
      const events = outcome();
      return events.length > 0 ? events : [declined];
    }
    // The write of the beginning failed without an answer. If it was begun, it is declined: no session was
    // opened for it.
    return this.#isUncertain ? [declined] : [];
  }

  async #begin(): Promise<EmailContext | null> {
    const { clock, tell, isStopping } = this.parts;
    if (isStopping()) return null;
    try {
      const { attempt, by } = this;
      const counted = this.#counted === null ? {} : { counted: this.#counted };
      const readyAt = this.#readyAt;
      const begun: EmailEvent = { type: 'attempt.begun', at: clock.now(), attempt, by, readyAt, ...counted };
      const result = await tell(begun);
      if (result.outcome !== 'changed' || result.state !== 'sending') return null;
      const context = result.context as EmailContext;
      return context.begunBy === by ? context : null;
    } catch {
      this.#isUncertain = true;
      return null;
    }
  }
}
