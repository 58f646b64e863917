import type { StoredReply } from '../../platform/db/stored-replies.ts';
import type { ContextOfKind, KindName, StateOfKind } from './kind.ts';

/** Which actors a caller may reach. An actor outside it is absent, as a missing one is. */
export interface Scope {
  readonly workspaceId: string;
  readonly livemode: boolean;
}

/** A period's units that a spawn takes, and how many there are of them; null: as many as one likes. */
export interface Meter {
  readonly period: string;
  readonly quota: number | null;
}

/** The idempotency key of a call, and the reply to store with the action. */
export interface Claim<State extends string = string, Context = unknown> {
  readonly key: string;
  /** One of the things that the call asks for, by its number; the call as a whole when left out. */
  readonly item?: number | undefined;
  /** The scope of the key: the caller's workspace and environment, which may differ from the actor's. */
  readonly scope: Scope;
  readonly fingerprint: string;
  readonly status: number;
  /** The stored body, already sealed where it holds a secret. Built from the state the action leads to. */
  reply(state: State, context: Context): string;
}

/** The result of an event, known once it is durable. */
export type EventResult<State extends string = string, Context = unknown> =
  /** The event was taken, and the change is committed. */
  | { readonly outcome: 'changed'; readonly state: State; readonly context: Context }
  /** The actor's state does not take the event; nothing was written. */
  | { readonly outcome: 'refused'; readonly state: State; readonly context: Context }
  /** No such actor within the scope. */
  | { readonly outcome: 'absent' }
  | StoredReply;

export type SpawnResult<State extends string = string, Context = unknown> =
  | { readonly outcome: 'spawned'; readonly state: State; readonly context: Context }
  /** The quota of its period was reached; nothing was written. */
  | { readonly outcome: 'overQuota' }
  /** A condition of its kind did not hold any more; nothing was written. */
  | { readonly outcome: 'withheld' }
  | StoredReply;

/** The result of an event for an actor of that kind. */
export type EventResultOf<Name extends KindName> = EventResult<StateOfKind<Name>, ContextOfKind<Name>>;

/** The result of spawning an actor of that kind. */
export type SpawnResultOf<Name extends KindName> = SpawnResult<StateOfKind<Name>, ContextOfKind<Name>>;

/** The idempotency key of a call that changes an actor of that kind. */
export type ClaimOf<Name extends KindName> = Claim<StateOfKind<Name>, ContextOfKind<Name>>;
