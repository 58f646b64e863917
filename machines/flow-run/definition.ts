import type { ContactTexts } from '../../src/platform/text/contact-fields.ts';

/**
 * A length of time as authors write it. Minutes and hours are lengths; days and weeks are those of the
 * calendar.
 */
export interface Wait {
  readonly amount: number;
  readonly unit: 'minutes' | 'hours' | 'days' | 'weeks';
}

/** The days of the week in the order of ISO 8601. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
/** One of them. */
export type Weekday = (typeof WEEKDAYS)[number];

/** The end of a wait: a fixed moment, or the next time of day, in the step's own zone or the contact's. */
export type WaitEnd =
  | { readonly at: string }
  | { readonly time: string; readonly weekdays?: readonly Weekday[]; readonly timeZone?: string };

/** The time of day in which no email is sent; it may go over midnight. Without a zone it is the contact's. */
export interface QuietHours {
  readonly from: string;
  readonly to: string;
  readonly timeZone: string | null;
}

/** The configuration of each type of step. Filters are trees of conditions, which the evaluator reads. */
export interface StepConfigs {
  readonly sendEmail: {
    readonly templateId: string;
    readonly variables?: Readonly<Record<string, unknown>>;
    readonly from?: string;
    readonly subject?: string;
    readonly language?: string;
  };
  readonly delay: Wait;
  readonly delayUntil: WaitEnd;
  readonly condition: { readonly filter: unknown };
  readonly branch: { readonly branches: readonly { readonly key: string; readonly filter: unknown }[] };
  readonly waitForEvent: { readonly name: string; readonly filter?: unknown; readonly timeout: Wait };
  readonly updateContact: Partial<ContactTexts> & {
    readonly properties?: Readonly<Record<string, unknown>>;
  };
  readonly addToAudience: { readonly audienceId: string };
  readonly removeFromAudience: { readonly audienceId: string };
  readonly webhook: { readonly url: string };
  readonly exit: { readonly reason?: string };
}

export type StepType = keyof StepConfigs;

export type FlowStep = {
  readonly [Type in StepType]: {
    readonly key: string;
    readonly type: Type;
    readonly config: StepConfigs[Type];
  };
}[StepType];

/** A way from one step to another; `when` is `default`, or the result of the step. */
export interface FlowEdge {
  readonly from: string;
  readonly to: string;
  readonly when: string;
}

/** The cause of a run. */
export type FlowTrigger = { readonly filter?: unknown } & (
  | { readonly type: 'contactCreated' }
  | { readonly type: 'audienceJoined' | 'audienceLeft'; readonly audienceId: string }
  | { readonly type: 'event'; readonly name: string }
  | { readonly type: 'replied' }
  | {
      readonly type: 'dateProperty';
      readonly property: string;
      readonly offsetDays: number;
      readonly time: string;
      readonly repeat: 'yearly' | 'once';
    }
  | { readonly type: 'manual' }
);

/** One version of a flow. */
export interface FlowDefinition {
  readonly trigger: FlowTrigger;
  /** The key of the first step; null in a draft without steps. */
  readonly entry: string | null;
  readonly reentry: 'never' | 'afterExit';
  readonly exitWhen: unknown;
  readonly quietHours: QuietHours | null;
  readonly steps: readonly FlowStep[];
  readonly edges: readonly FlowEdge[];
}

/** The steps that only let time pass; all others act when a run enters them. */
export const WAITS: ReadonlySet<StepType> = new Set(['delay', 'delayUntil', 'waitForEvent']);

/** The possible results of a step; each is the `when` of an edge. */
export function waysOf(step: FlowStep): readonly string[] {
  if (step.type === 'condition') return ['met', 'notMet'];
  if (step.type === 'waitForEvent') return ['event', 'timeout'];
  if (step.type === 'branch') return [...step.config.branches.map(({ key }) => key), 'default'];
  return step.type === 'exit' ? [] : ['default'];
}

/** The step that a way leads to; null where the run ends there. */
export const stepBehind = (
  { steps, edges }: Pick<FlowDefinition, 'steps' | 'edges'>,
  from: string,
  when: string,
): FlowStep | null => {
  const edge = edges.find((one) => one.from === from && one.when === when);
  return (edge && steps.find(({ key }) => key === edge.to)) ?? null;
};
