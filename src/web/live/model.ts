import type { Layout } from '../../engine/drawing/layout.ts';
import type { Drawing } from '../../engine/drawing/moves.ts';
import type { Explanation } from '../../engine/explanation.ts';

// The messages between the live view and the service. None of them holds personal data.

/** The session of a viewer: one environment of one workspace. */
export interface Session {
  /** True for a person with an account, who has the application and with it both environments. */
  readonly isMember: boolean;
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
  /** The states that are left within the same step and never stored. */
  readonly transient: readonly string[];
  /** The states that wait for a timer. */
  readonly timed: readonly string[];
  /**
   * True for a drawing that is only an example: each definition, such as a flow, has a machine with other
   * states.
   */
  readonly isExample: boolean;
}

/**
 * The machine of one definition, which the build does not know, and how many actors of it are in each state.
 */
export interface OwnMachine extends Machine {
  readonly layout: Layout;
  readonly counts: Readonly<Record<string, StateCount>>;
}

/** The number of actors in a state; `exact` is false for an estimate from a sample of a large table. */
export interface StateCount {
  readonly count: number;
  readonly exact: boolean;
}

/** Counts by kind and state. A state that is missing has no actors. */
export type Counts = Readonly<Record<string, Readonly<Record<string, StateCount>>>>;

/** An actor in a list. Times are epoch milliseconds. */
export interface ActorItem {
  readonly id: string;
  /**
   * The text that identifies the actor for people: the domain of an email's recipient. Null for kinds without
   * one.
   */
  readonly title: string | null;
  /** Further facts, a few words each: `last event opened`. */
  readonly facts: readonly string[];
  readonly state: string;
  readonly revision: number;
  readonly attempt: number | null;
  readonly createdAt: number;
  /** The next time at which a timer fires. */
  readonly wakeAt: number | null;
}

/** A page of actors, newest first. */
export interface ActorPage {
  readonly actors: readonly ActorItem[];
  /** The cursor of the next page; null on the last one. */
  readonly next: string | null;
  /** Set when the search stopped at its budget: everything newer than this time was examined. */
  readonly searchedBackTo: number | null;
}

/** One transition of an actor. */
export interface LifeStep {
  readonly revision: number;
  readonly event: string;
  readonly from: string | null;
  readonly to: string;
  readonly at: number;
  readonly attempt: number | null;
  readonly effects: readonly string[];
}

/** One actor and its history. */
export interface ActorLife extends ActorItem {
  readonly kind: string;
  /** The machine of the actor's definition; null where all actors of its kind run one machine. */
  readonly machine: OwnMachine | null;
  readonly context: unknown;
  readonly timers: readonly { readonly delay: string; readonly at: number }[];
  readonly steps: readonly LifeStep[];
  /** True when older steps exist. */
  readonly truncated: boolean;
  readonly explanation: Explanation;
}

/** A transition that has just been committed. */
export interface Movement {
  readonly kind: string;
  readonly id: string;
  readonly event: string;
  readonly from: string | null;
  readonly to: string;
  readonly at: number;
  /** The instance that has committed it: `ShownInstance.id`. */
  readonly instance: string;
}

/** An instance of the service that lives. */
export interface ShownInstance {
  /** The beginning of its id. */
  readonly id: string;
  readonly roles: readonly string[];
  /** Null for a version before those that say it; such an instance does not tell what it commits either. */
  readonly version: string | null;
  /** Epoch milliseconds. */
  readonly startedAt: number | null;
  /** True of the one that this viewer is connected to. */
  readonly isThis: boolean;
}

/**
 * The completeness of the news of other instances: all of it, none because too many environments are watched
 * at once, or none because the database does not answer.
 */
export type NewsCompleteness = 'all' | 'crowded' | 'away';

/**
 * A message about the machines, at most four per second. A dropped one loses nothing important, because
 * counts are absolute.
 */
export interface Tick {
  readonly type: 'tick';
  readonly at: number;
  /** The count of each transition since the last message. */
  readonly moves: readonly (Pick<Movement, 'kind' | 'event' | 'from' | 'to'> & { readonly times: number })[];
  /** A sample of these transitions. */
  readonly sample: readonly Movement[];
  /** The number of moves beside those of the sample; `moves` may lack some of them too. */
  readonly unshown: number;
  /** The counts, when they have changed. */
  readonly counts: Counts | null;
  /** The watched actors that have changed. */
  readonly changed: readonly string[];
  /** The living instances, when they have changed. */
  readonly instances: readonly ShownInstance[] | null;
  readonly completeness: NewsCompleteness;
}

/**
 * The names of changed resources as their addresses begin, each with the changed ids, or null for too many to
 * name. Pages read the new data through the API.
 */
export interface Changes {
  readonly type: 'changes';
  readonly changed: Readonly<Record<string, readonly string[] | null>>;
}

/** Anything may have changed: the pages read all their data again. */
interface ReloadMessage {
  readonly type: 'everything';
}

/** Nothing has changed; the connection is alive. */
interface Beat {
  readonly type: 'beat';
}

/** A message about resources. */
export type ChangeMessage = Changes | ReloadMessage | Beat;

/** The most pages show machines already; this page gets no news of them. */
interface Full {
  readonly type: 'full';
}

/** A text that the service sends. */
export type ServiceMessage = ChangeMessage | Tick | Full;

/** The longest time between two messages. */
export const BEAT_MS = 5_000;

/** The actor that a page has opened, whose changes are named in ticks; null for none. */
export interface Watch {
  readonly type: 'watch';
  readonly id: string | null;
}

/** A page that shows the machines asks for ticks, and ends them. */
interface ShowMachines {
  readonly type: 'machines';
  readonly on: boolean;
}

/** A text that a page sends. */
export type PageMessage = Watch | ShowMachines;
