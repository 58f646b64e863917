/** Sessions that have ended: those of which everything holds that is said here. */
export interface Ended {
  readonly sessionId?: string;
  /** The person whose sessions they were. */
  readonly accountId?: string;
  readonly workspaceId?: string;
  /** The session of the same person that goes on. */
  readonly except?: string | null;
}

/** The fields that identify a session. */
interface Known {
  readonly id: string | null;
  readonly subject: { readonly kind: string; readonly id: string; readonly workspaceId: string };
}

/** True when the session is among the ended ones. A connection without a session is not. */
export const isAmong = (
  { sessionId, accountId, workspaceId, except }: Ended,
  { id, subject }: Known,
): boolean =>
  id !== null &&
  id !== except &&
  (sessionId ?? id) === id &&
  (workspaceId ?? subject.workspaceId) === subject.workspaceId &&
  (accountId === undefined || (subject.kind === 'account' && subject.id === accountId));

/**
 * Tells this process at once which sessions have ended by a request that it answers, for what is longer than a request. Whoever deletes
 * sessions tells of it before answering. Other instances find out when they look at the session again.
 */
export class SessionEnds {
  readonly #listeners = new Set<(ended: Ended) => void>();

  /** Calls the listener until the returned function is called. */
  listen(listener: (ended: Ended) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(ended: Ended): void {
    for (const listener of this.#listeners) listener(ended);
  }
}
