import type { ServerWebSocket } from 'bun';
import type { SocketSession } from '../../../http/listen/listen.ts';
import { GOING_AWAY, SESSION_OVER } from '../../../http/listen/session-socket.ts';
import type { InspectorSession } from '../inspector-sessions.ts';
import type { Watch } from '../model.ts';
import { type Visibility, visibilityKey } from '../visibility.ts';
import type { LiveFeed, Viewer } from './live-feed.ts';

/**
 * The bytes that may wait for a viewer. A slower viewer gets no messages, and then the number of missed ones.
 */
const BACKLOG = 65_536;
/**
 * The time between two checks of a connection's session, and so the longest time until a revocation, or an
 * end by another instance, is noticed.
 */
export const RECHECK_MS = 5_000;

/** The WebSocket of a live view in a browser. */
export class LiveSocket implements SocketSession, Viewer {
  readonly scope;
  visibility: Visibility;
  watched: string | null = null;
  #socket: ServerWebSocket<SocketSession> | null = null;
  #leave: (() => void) | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(
    session: InspectorSession,
    private readonly liveFeed: LiveFeed,
    private readonly readVisibility: () => Promise<Visibility | null>,
  ) {
    this.scope = { workspaceId: session.subject.workspaceId, livemode: session.subject.livemode };
    this.visibility = session.visibility;
  }

  opened(socket: ServerWebSocket<SocketSession>): void {
    this.#socket = socket;
    this.#leave = this.liveFeed.join(this);
    this.#timer = setInterval(() => void this.#recheck(), RECHECK_MS);
  }

  received(_socket: ServerWebSocket<SocketSession>, text: string): void {
    const id = watchedIn(text);
    if (id !== undefined) this.watched = id;
  }

  closed(): void {
    clearInterval(this.#timer);
    this.#leave?.();
    this.#socket = null;
  }

  end(): void {
    this.#socket?.close(GOING_AWAY);
  }

  get isFull(): boolean {
    return (this.#socket?.getBufferedAmount() ?? 0) >= BACKLOG;
  }

  show(text: string): void {
    this.#socket?.send(text);
  }

  async #recheck(): Promise<void> {
    const visibility = await this.readVisibility().catch(() => this.visibility);
    if (!visibility) this.#socket?.close(SESSION_OVER, 'The session is over.');
    if (!visibility || !this.#socket || visibilityKey(visibility) === visibilityKey(this.visibility)) return;
    this.visibility = visibility;
    const leave = this.#leave;
    this.#leave = this.liveFeed.join(this);
    leave?.();
  }
}

/** The possible form of an actor's id. */
const ID = /^[a-z0-9_]{1,60}$/;

/** The id in a `watch` message, or null when it names none; undefined for any other message. */
function watchedIn(text: string): string | null | undefined {
  try {
    const { type, id } = JSON.parse(text) as Partial<Watch>;
    if (type !== 'watch') return undefined;
    return typeof id === 'string' && ID.test(id) ? id : null;
  } catch {
    return undefined;
  }
}
