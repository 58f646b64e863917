/**
 * A message to the pages of the application: the names of changed resources as their addresses begin, each
 * with the changed ids, or null for too many to name. Pages read the new data through the API.
 */
export interface Changes {
  readonly type: 'changes';
  readonly changed: Readonly<Record<string, readonly string[] | null>>;
}

/** Anything may have changed: the pages read all their data again. */
export interface ReloadMessage {
  readonly type: 'everything';
}

/** Nothing has changed; the connection is alive. */
export interface Beat {
  readonly type: 'beat';
}

/** A text that the service sends. */
export type ChangeMessage = Changes | ReloadMessage | Beat;

/** The longest time between two messages. */
export const BEAT_MS = 5_000;
