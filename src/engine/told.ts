import type { StoredReply } from '../db/stored-replies.ts';

/** Which actors a caller may reach. An actor outside it is absent, as a missing one is. */
export interface Scope {
  readonly workspaceId: string;
  readonly livemode: boolean;
}

/** The idempotency key of a call, and the reply to store with the action. */
export interface Claim {
  readonly key: string;
  /** Whose key it is: the caller's workspace and environment, whatever the actor's are. */
  readonly scope: Scope;
  readonly fingerprint: string;
  readonly status: number;
  /** The stored body, already sealed where it holds a secret. Built from the state the action leads to. */
  reply(state: string, context: unknown): string;
}

/** What became of a command, told once it is durable. */
export type Told =
  /** The event was taken, and the change is committed. */
  | { readonly outcome: 'changed'; readonly state: string; readonly context: unknown }
  /** The actor's state does not take the event; nothing was written. */
  | { readonly outcome: 'refused'; readonly state: string; readonly context: unknown }
  /** No such actor within the scope. */
  | { readonly outcome: 'absent' }
  | StoredReply;

/** What became of a new actor. */
export type Spawned =
  | { readonly outcome: 'spawned'; readonly state: string; readonly context: unknown }
  /** The ceiling of its period was reached; nothing was written. */
  | { readonly outcome: 'overQuota' }
  | StoredReply;
