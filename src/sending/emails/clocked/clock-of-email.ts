import { Failure } from '../../../platform/errors/failure.ts';
import type { EmailSender } from '../accept/prepare.ts';

/** A test clock at rest, with its time in epoch milliseconds. */
export interface StandingClock {
  readonly id: string;
  readonly now: number;
}

/** The counts of a clock over its life. */
export interface ClockUsage {
  readonly what: 'emails' | 'contacts' | 'runs';
  readonly count: number;
}

/** The functions of test clocks for other modules. */
export interface TestClocks {
  /**
   * The clock at its present time; 404 when the workspace has none with that id, 409 while it advances.
   * @throws UnavailableError
   */
  find(workspaceId: string, id: string): Promise<StandingClock | Failure>;
  /**
   * Adds actors to the clock if its time is still the same and its limits allow it. @throws UnavailableError
   */
  enter(workspaceId: string, clock: StandingClock, more?: ClockUsage): Promise<Failure | null>;
  /** Gives it something more while it moves: what its own runs make. @throws UnavailableError */
  admit(workspaceId: string, clock: StandingClock, more: ClockUsage): Promise<Failure | null>;
  /** Processes an email of it that may be due at its time. */
  entered(workspaceId: string, clock: StandingClock): void;
  /** That has not come to be. @throws UnavailableError */
  left(workspaceId: string, clock: StandingClock, more?: ClockUsage): Promise<void>;
  /**
   * Something came for these clocks: whatever of it is due is done, also when this process dies. @throws
   * UnavailableError
   */
  wake(ids: readonly string[]): Promise<void>;
  /** The clock of a contact, as `find` returns it; null for real time. @throws UnavailableError */
  ofContact(workspaceId: string, contactId: string): Promise<StandingClock | Failure | null>;
  /**
   * The clock of an email, as `find` returns it; null for real time, or when there is no such email. @throws
   * UnavailableError
   */
  ofEmail(workspaceId: string, emailId: string, isToGoOn: boolean): Promise<StandingClock | Failure | null>;
}

/** The header by which a request joins a test clock. */
const HEADER = 'x-svc-test-clock';

/** The clock that the header of a request names; null where it names none. @throws UnavailableError */
export const clockOfHeader = (
  clocks: () => TestClocks | undefined,
  caller: Pick<EmailSender, 'workspaceId' | 'livemode'>,
  headers: Headers,
): Promise<StandingClock | Failure> | Failure | null =>
  namedClock(clocks, caller, headers.get(HEADER) ?? undefined);

/**
 * The email of a request, with the test clock that its header names; what the email itself names goes before.
 */
export function onNamedClock<Body extends { readonly testClockId?: string }>(
  body: Body,
  headers: Headers,
): Body {
  const testClockId = headers.get(HEADER);
  return testClockId === null || body.testClockId !== undefined ? body : { ...body, testClockId };
}

/** The clock that a request names; null where it names none. @throws UnavailableError */
export function namedClock(
  clocks: () => TestClocks | undefined,
  { workspaceId, livemode }: Pick<EmailSender, 'workspaceId' | 'livemode'>,
  id: string | undefined,
): Promise<StandingClock | Failure> | Failure | null {
  if (id === undefined) return null;
  if (livemode) return LIVE_KEY;
  return clocks()?.find(workspaceId, id) ?? null;
}

/** The refusal of a live key. */
export const LIVE_KEY = new Failure(
  'FORBIDDEN',
  'Test clocks are for test keys alone: live email goes by the real time.',
  {
    suggestion: 'Repeat the request with a test key.',
  },
);
