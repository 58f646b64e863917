/** The status that the API shows. */
export type FlowRunStatus = 'running' | 'waiting' | EndStatus;

export type EndStatus = 'completed' | 'exited' | 'failed' | 'cancelled';

/**
 * The context of a run. Nothing in it is personal: the contact is named by its id. Times are epoch
 * milliseconds.
 */
export interface FlowRunContext {
  /** The time of the last event, from which delays count. */
  readonly at: number;
  /** The time for which a step may be silent before it is done again. */
  readonly leaseMs: number;
  /** The test clock that it lives by, and whose times are all of its times; absent for the real time. */
  readonly testClockId?: string;
  readonly contactId: string;
  /** The contact's time zone, or else that of the workspace. */
  readonly timeZone: string;
  /** The entry in the contact's activity that began the run; null where none did. */
  readonly occurrence: string | null;
  /**
   * The position in the log of the last event that the run has taken; none at or before it is taken again.
   */
  readonly seen: string;
  /** The length of the chain of flows that began one another, up to this run. */
  readonly depth: number;
  readonly status: FlowRunStatus;
  readonly step: string | null;
  /** Counts the steps that the run has entered; reports of a step must carry it. */
  readonly visit: number;
  /** The time at which the run entered the present step. */
  readonly since: number;
  /** The number of times that the present step was begun. */
  readonly attempt: number;
  /** The name of the awaited event; null as well once it has arrived for a run that is held. */
  readonly awaits: string | null;
  /** When the present waiting ends. */
  readonly until: number;
  /** The hour that steps are counted in, against runs that go round in a circle. */
  readonly counted: { readonly since: number; readonly steps: number };
  /** Why it has failed, or left. */
  readonly reason: string | null;
  readonly endedAt: number | null;
}

export type FlowRunInput = Pick<
  FlowRunContext,
  'at' | 'leaseMs' | 'testClockId' | 'contactId' | 'timeZone' | 'occurrence' | 'seen' | 'depth'
>;

/** A report of a step. It counts only for the visit that is under way. */
interface OfVisit {
  readonly at: number;
  readonly visit: number;
}

/** A step has been done. */
export interface StepDone extends OfVisit {
  readonly type: 'step.done';
  /** Which way it leads on: `default`, `met`, `notMet`, or the key of a branch. */
  readonly way: string;
  /** The text for the log. */
  readonly outcome: string;
  readonly emailId: string | null;
  /** The contact's time zone as it is now. */
  readonly timeZone: string;
}

/** An event of the contact that runs wait for. */
export interface EventCame {
  readonly type: 'event.came';
  readonly at: number;
  readonly name: string;
  /** Its place in the log. */
  readonly position: string;
  /** The flow holds its runs: it counts, but ends none of them. */
  readonly isHeld?: boolean;
}

export type FlowRunEvent =
  | StepDone
  /** It can be done only later. */
  /** `isUntried` where nothing was done for it, so that it is no try. */
  | ({ readonly type: 'step.postponed'; readonly until: number; readonly isUntried?: true } & OfVisit)
  /** The flow holds its runs. */
  | ({ readonly type: 'step.held' } & OfVisit)
  /** It can never be done. */
  | ({ readonly type: 'step.failed'; readonly reason: string } & OfVisit)
  | EventCame
  /** The flow resumes its runs. */
  | { readonly type: 'hold.ended'; readonly at: number }
  /** The flow's purpose is fulfilled, or the contact is gone. */
  | { readonly type: 'exit.requested'; readonly at: number; readonly reason: string }
  /** A client ends it, or the flow ends all of its runs. */
  | { readonly type: 'cancel.requested'; readonly at: number };

/** One line of a run's log. */
export interface LogLine {
  readonly visit: number;
  readonly step: string;
  readonly at: number;
  readonly outcome: string;
  readonly emailId: string | null;
}
