import { setup } from 'xstate';
import type { EndStatus, FlowRunContext, FlowRunEvent, FlowRunInput, LogLine, StepDone } from './context.ts';
import type { FlowStep, QuietHours } from './definition.ts';
import { delayEnd, quietUntil, untilMoment } from './time.ts';

const HOUR_MS = 3_600_000;
/** The most steps of a run within an hour. */
export const MOST_STEPS_AN_HOUR = 1_000;

interface RunArguments {
  readonly context: FlowRunContext;
  readonly event: FlowRunEvent;
}

/** The moment of a decision; the event that begins a run has no time, so the context's counts. */
const momentOf = ({ context, event }: RunArguments): number => event.at ?? context.at;

const isOfVisit = ({ context, event }: RunArguments): boolean =>
  'visit' in event && event.visit === context.visit;

/** Positions are decimal numbers of up to nineteen digits. */
const isLater = (position: string, seen: string): boolean => BigInt(position) > BigInt(seen);

/**
 * The parts that the machine of every flow is made of: the compiler names them, and gives them what the
 * definition says.
 */
export const runSetup = setup({
  types: { context: {} as FlowRunContext, events: {} as FlowRunEvent, input: {} as FlowRunInput },
  guards: {
    visitIsTheLatest: (given) => isOfVisit(given),
    /** A step was begun when the run ended, and has not reported its result yet. */
    stepIsOpen: (given) => isOfVisit(given) && given.context.attempt > 0,
    /** The same of one that was tried without success, and would have been tried again. */
    stepWasTried: (given) =>
      isOfVisit(given) &&
      given.context.attempt > 0 &&
      given.event.type === 'step.postponed' &&
      given.event.isUntried !== true,
    ledThere: (given, { way }: { readonly way: string }) =>
      isOfVisit(given) && given.event.type === 'step.done' && given.event.way === way,
    isAwaited: ({ context, event }) =>
      event.type === 'event.came' && event.name === context.awaits && isLater(event.position, context.seen),
    /** Marks the end of a wait, by a timer or by the contact's event, while the flow holds its runs. */
    isHeld: ({ event }) => 'isHeld' in event && event.isHeld === true,
    /** A run that was held has taken the event that it waited for. */
    hasCome: ({ context }) => context.awaits === null,
    /** A run that makes a thousand steps in an hour goes round in a circle. */
    runsAway: (given) => {
      const { since, steps } = given.context.counted;
      return momentOf(given) - since < HOUR_MS && steps >= MOST_STEPS_AN_HOUR;
    },
    isQuiet: (given, quiet: QuietHours) =>
      quietUntil(momentOf(given), quiet, given.context.timeZone) !== null,
    standsAt: ({ context }, { step }: { readonly step: string }) => context.step === step,
  },
  actions: {
    /**
     * Order: do what the step says. The same visit carries the same idempotency key, however often it is
     * tried.
     */
    perform: (_, _params: { readonly step: string; readonly visit: number; readonly attempt: number }) => {},
    /** Fact: a step is over, with its result. */
    log: (_, _params: LogLine) => {},
    /** Fact: the run is over, and how. */
    end: (_, _params: { readonly status: EndStatus }) => {},
  },
  delays: {
    /** The time after which a silent step is done again. */
    lease: ({ context }) => context.leaseMs,
    /** The rest of the present waiting. */
    wait: ({ context }) => Math.max(0, context.until - context.at),
  },
});

/** The context of a run that arrives at a step. */
export const arriving = (step: FlowStep) =>
  runSetup.assign((given) => {
    const at = momentOf(given);
    const { context, event } = given;
    const timeZone = event.type === 'step.done' ? event.timeZone : context.timeZone;
    const isNewHour = at - context.counted.since >= HOUR_MS;
    const isWaiting = step.type === 'delay' || step.type === 'delayUntil' || step.type === 'waitForEvent';
    return {
      at,
      timeZone,
      status: isWaiting ? ('waiting' as const) : ('running' as const),
      step: step.key,
      visit: context.visit + 1,
      since: at,
      attempt: 0,
      awaits: step.type === 'waitForEvent' ? step.config.name : null,
      until: endOfWaiting(step, at, timeZone),
      counted: isNewHour ? { since: at, steps: 1 } : { ...context.counted, steps: context.counted.steps + 1 },
      seen: event.type === 'event.came' ? event.position : context.seen,
    };
  });

function endOfWaiting(step: FlowStep, at: number, timeZone: string): number {
  if (step.type === 'delay') return delayEnd(at, step.config, timeZone);
  if (step.type === 'delayUntil') return untilMoment(at, step.config, timeZone);
  return step.type === 'waitForEvent' ? delayEnd(at, step.config.timeout, timeZone) : at;
}

/** Nothing is sent before the quiet hours have ended. */
export const waitingOut = (quiet: QuietHours) =>
  runSetup.assign((given) => ({
    at: momentOf(given),
    status: 'waiting' as const,
    until: quietUntil(momentOf(given), quiet, given.context.timeZone) ?? momentOf(given),
  }));

/** A step begins: what it does is tried once more. */
export const beginning = runSetup.assign((given) => ({
  at: momentOf(given),
  status: 'running' as const,
  attempt: given.context.attempt + 1,
}));

/** Waits for the time that the step has reported. */
export const postponing = runSetup.assign(({ context, event }) => ({
  at: event.at,
  status: 'waiting' as const,
  until: event.type === 'step.postponed' ? event.until : event.at,
  attempt: context.attempt - (event.type === 'step.postponed' && event.isUntried ? 1 : 0),
}));

/**
 * Waits until the flow resumes its runs. Nothing was tried: a step is in doubt only once it was tried,
 * however long its flow was held.
 */
export const holding = runSetup.assign(({ context, event }) => ({
  at: event.at,
  status: 'waiting' as const,
  attempt: context.attempt - 1,
}));

/**
 * A wait is over, and the flow holds its runs: the run stays where it is, and takes the event that it waits
 * for.
 */
export const standingStill = runSetup.assign((given) => ({ at: momentOf(given) }));

/** The event has arrived for a run that is held. */
export const remembering = runSetup.assign(({ context, event }) => ({
  at: event.at,
  awaits: null,
  seen: event.type === 'event.came' ? event.position : context.seen,
}));

/** The context of a run that ends. The reason is `reason`, or else the event's. */
export const ending = (status: FlowRunContext['status'], reason: string | null = null) =>
  runSetup.assign((given) => ({
    at: momentOf(given),
    status,
    awaits: null,
    endedAt: momentOf(given),
    reason: reason ?? ('reason' in given.event ? given.event.reason : null),
  }));

/** The step that was under way at the end of the run has reported its result. */
export const settling = runSetup.assign(({ event }) => ({ at: event.at, attempt: 0 }));

/** The line for a step that the present event ends. */
export const logged = (outcome?: string) => ({
  type: 'log' as const,
  params: (given: RunArguments): LogLine => {
    const { context, event } = given;
    const done = event.type === 'step.done' ? (event as StepDone) : null;
    return {
      visit: context.visit,
      step: context.step ?? '',
      at: momentOf(given),
      outcome: outcome ?? done?.outcome ?? '',
      emailId: done?.emailId ?? null,
    };
  },
});

/** The order of the present step. */
export const ordered = {
  type: 'perform' as const,
  params: ({ context }: { readonly context: FlowRunContext }) => ({
    step: context.step ?? '',
    visit: context.visit,
    attempt: context.attempt,
  }),
};
