/** The ended sessions: those that match all of these fields. */
export interface EndedSessions {
  readonly sessionId?: string;
  /** The person of the sessions. */
  readonly accountId?: string;
  readonly workspaceId?: string;
  /** The session of the same person that stays open. */
  readonly except?: string | null;
}

/** The fields that identify a session. */
interface SessionIdentity {
  readonly id: string | null;
  readonly subject: { readonly kind: string; readonly id: string; readonly workspaceId: string };
}

/** True when the session is among the ended ones. A connection without a session is not. */
export const isAmong = (
  { sessionId, accountId, workspaceId, except }: EndedSessions,
  { id, subject }: SessionIdentity,
): boolean =>
  id !== null &&
  id !== except &&
  (sessionId ?? id) === id &&
  (workspaceId ?? subject.workspaceId) === subject.workspaceId &&
  (accountId === undefined || (subject.kind === 'account' && subject.id === accountId));

/**
 * Reports to this process at once which sessions its own requests have ended, for connections that outlast a
 * request. The code that deletes sessions reports it before it answers. Other instances notice at their next
 * check of the session.
 */
export class SessionEnds {
  readonly #listeners = new Set<(ended: EndedSessions) => void>();

  /** Calls the listener until the returned function is called. */
  listen(listener: (ended: EndedSessions) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(ended: EndedSessions): void {
    for (const listener of this.#listeners) listener(ended);
  }
}
