import type { ServerWebSocket } from 'bun';
import type { SocketSession } from '../../http/listen.ts';
import type { LiveFeed, Viewer } from './live-feed.ts';
import type { Watch } from './model.ts';
import { type Visibility, visibilityKey } from './visibility.ts';
import type { InspectorSession } from './visits.ts';

/** Bytes that may wait for a viewer; beyond them a tick is dropped, since the next one says as much. */
const BACKLOG = 65_536;
/** RFC 6455, 7.4.2: codes from 4000 on are ours. */
export const SESSION_OVER = 4_401;
/** RFC 6455, 7.4.1. */
export const GOING_AWAY = 1_001;
/** How often a connection asks whether its session still holds. */
const LOOK_AGAIN_MS = 15_000;

/** The WebSocket of a page that looks at the machines. */
export class LiveSocket implements SocketSession, Viewer {
  readonly scope;
  visibility: Visibility;
  watched: string | null = null;
  #socket: ServerWebSocket<SocketSession> | null = null;
  #leave: (() => void) | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(
    visit: InspectorSession,
    private readonly liveFeed: LiveFeed,
    private readonly look: () => Promise<Visibility | null>,
    private readonly gone: (talk: SocketSession) => void,
  ) {
    this.scope = { workspaceId: visit.subject.workspaceId, livemode: visit.subject.livemode };
    this.visibility = visit.visibility;
  }

  opened(socket: ServerWebSocket<SocketSession>): void {
    this.#socket = socket;
    this.#leave = this.liveFeed.join(this);
    this.#timer = setInterval(() => void this.#lookAgain(), LOOK_AGAIN_MS);
  }

  received(_socket: ServerWebSocket<SocketSession>, text: string): void {
    const id = watchedIn(text);
    if (id !== undefined) this.watched = id;
  }

  closed(): void {
    this.gone(this);
    clearInterval(this.#timer);
    this.#leave?.();
    this.#socket = null;
  }

  end(): void {
    this.#socket?.close(GOING_AWAY);
  }

  show(text: string): void {
    if (this.#socket && this.#socket.getBufferedAmount() < BACKLOG) this.#socket.send(text);
  }

  async #lookAgain(): Promise<void> {
    const visibility = await this.look().catch(() => this.visibility);
    if (!visibility) this.#socket?.close(SESSION_OVER, 'The session is over.');
    if (!visibility || !this.#socket || visibilityKey(visibility) === visibilityKey(this.visibility)) return;
    this.visibility = visibility;
    const leave = this.#leave;
    this.#leave = this.liveFeed.join(this);
    leave?.();
  }
}

/** The id that a message asks to watch; undefined for anything that is no such message. */
function watchedIn(text: string): string | null | undefined {
  try {
    const { type, id } = JSON.parse(text) as Partial<Watch>;
    if (type !== 'watch') return undefined;
    return typeof id === 'string' ? id : null;
  } catch {
    return undefined;
  }
}
