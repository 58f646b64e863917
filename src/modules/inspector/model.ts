import type { Drawing } from '../../drawing/moves.ts';

// What the live view and the service say to each other. No personal data is in any of it.

/** Who looks: one environment of one workspace, until the session ends. */
export interface Session {
  readonly workspaceId: string;
  readonly workspaceName: string;
  readonly livemode: boolean;
  /** ISO 8601. */
  readonly expiresAt: string;
  readonly version: string;
}

/** One kind of actor with the definition of its machine. */
export interface Machine {
  readonly kind: string;
  readonly idPrefix: string;
  readonly drawing: Drawing;
  /** States that are passed through within one step and never stored. */
  readonly transient: readonly string[];
  /** States that wait for the clock. */
  readonly timed: readonly string[];
}

/** How many actors are in a state; `exact` is false where the number rests on a sample of a large table. */
export interface StateCount {
  readonly count: number;
  readonly exact: boolean;
}

/** Counts by kind and state. A state that is missing has no actors. */
export type Counts = Readonly<Record<string, Readonly<Record<string, StateCount>>>>;

/** An actor in a list. Times are epoch milliseconds. */
export interface ActorItem {
  readonly id: string;
  /** By what people know it: the domain of an email's recipient. Null where its kind has no such text. */
  readonly title: string | null;
  /** What else matters, a few words each: `last event opened`. */
  readonly facts: readonly string[];
  readonly state: string;
  readonly revision: number;
  readonly attempt: number | null;
  readonly createdAt: number;
  /** When the clock wakes it next. */
  readonly wakeAt: number | null;
}

/** A page of actors, newest first. */
export interface ActorPage {
  readonly actors: readonly ActorItem[];
  /** Where to go on; null when nothing is left. */
  readonly next: string | null;
  /** Set when the search stopped at its budget: everything newer than this moment was looked at. */
  readonly searchedBackTo: number | null;
}

/** One transition that an actor has taken. */
export interface LifeStep {
  readonly revision: number;
  readonly event: string;
  readonly from: string | null;
  readonly to: string;
  readonly at: number;
  readonly attempt: number | null;
  readonly effects: readonly string[];
}

/** Why an actor is where it is, for people. */
export interface Explanation {
  readonly summary: string;
  /** The rule that holds in this state. */
  readonly rule: string;
  readonly evidence: readonly { readonly at: number; readonly text: string }[];
  readonly next: { readonly text: string; readonly at: number | null };
}

/** One actor and everything that has happened to it. */
export interface ActorLife extends ActorItem {
  readonly kind: string;
  readonly context: unknown;
  readonly timers: readonly { readonly delay: string; readonly at: number }[];
  readonly steps: readonly LifeStep[];
  /** Whether older steps than these exist. */
  readonly truncated: boolean;
  readonly explanation: Explanation;
}

/** A transition as it just happened. */
export interface Movement {
  readonly kind: string;
  readonly id: string;
  readonly event: string;
  readonly from: string | null;
  readonly to: string;
  readonly at: number;
}

/** What the service tells a viewer, at most four times a second. Whatever does not fit is left out: counts are absolute. */
export interface Tick {
  readonly type: 'tick';
  readonly at: number;
  /** How often each transition was taken since the last tick. */
  readonly moves: readonly (Pick<Movement, 'kind' | 'event' | 'from' | 'to'> & { readonly times: number })[];
  /** A sample of them. */
  readonly sample: readonly Movement[];
  /** Only where they changed. */
  readonly counts: Counts | null;
  /** Watched actors that have changed. */
  readonly changed: readonly string[];
}

/** What a viewer tells the service. */
export interface Watch {
  readonly type: 'watch';
  /** The actor that is open; null for none. */
  readonly id: string | null;
}
