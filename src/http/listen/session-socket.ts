import type { ServerWebSocket } from 'bun';
import type { Session } from '../auth/sessions/session-store.ts';
import type { SocketSession } from './listen.ts';

/** The close code of an ended session; codes from 4000 on are for private use (RFC 6455, 7.4.2). */
export const SESSION_OVER = 4_401;
/** The close code of a server that stops (RFC 6455, 7.4.1). */
export const GOING_AWAY = 1_001;
/**
 * An ended session gets no messages from that moment on, and is closed this much later: a page whose own
 * request ended it, by signing out or switching the workspace, gets the answer to that request first.
 */
export const CLOSED_AFTER_MS = 1_000;

/**
 * A WebSocket that lasts as long as its session: no handler sees it, and so none can send, once that has
 * ended.
 */
export class SessionSocket implements SocketSession {
  #handler: SocketSession | null;
  #socket: ServerWebSocket<SocketSession> | null = null;
  #isOver = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly session: Session,
    handler: SocketSession,
    private readonly onClosed: () => void,
  ) {
    this.#handler = handler;
  }

  opened(socket: ServerWebSocket<SocketSession>): void {
    this.#socket = socket;
    this.#handler?.opened(socket);
  }

  received(socket: ServerWebSocket<SocketSession>, text: string): void {
    this.#handler?.received(socket, text);
  }

  closed(): void {
    clearTimeout(this.#timer);
    this.#leave();
    this.onClosed();
  }

  end(): void {
    if (this.#handler) this.#handler.end();
    else this.#socket?.close(GOING_AWAY);
  }

  /** Tells nothing any more, since the session has ended, and closes the connection soon. */
  over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#leave();
    this.#timer = setTimeout(
      () => this.#socket?.close(SESSION_OVER, 'The session has ended.'),
      CLOSED_AFTER_MS,
    );
  }

  #leave(): void {
    const handler = this.#handler;
    this.#handler = null;
    handler?.closed();
  }
}
