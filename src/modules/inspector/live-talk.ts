import type { ServerWebSocket } from 'bun';
import type { Talk } from '../../http/listen.ts';
import type { Lookout, Viewer } from './lookout.ts';
import type { Watch } from './model.ts';
import { type Sight, sightKey } from './sight.ts';
import type { Visit } from './visits.ts';

/** Bytes that may wait for a viewer; beyond them a tick is dropped, since the next one says as much. */
const BACKLOG = 65_536;
/** RFC 6455, 7.4.2: codes from 4000 on are ours. */
export const SESSION_OVER = 4_401;
/** RFC 6455, 7.4.1. */
export const GOING_AWAY = 1_001;
/** How often a connection asks whether its session still holds. */
const LOOK_AGAIN_MS = 15_000;

/** The WebSocket of a page that looks at the machines. */
export class LiveTalk implements Talk, Viewer {
  readonly scope;
  sight: Sight;
  watched: string | null = null;
  #socket: ServerWebSocket<Talk> | null = null;
  #leave: (() => void) | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(
    visit: Visit,
    private readonly lookout: Lookout,
    private readonly look: () => Promise<Sight | null>,
    private readonly gone: (talk: Talk) => void,
  ) {
    this.scope = { workspaceId: visit.subject.workspaceId, livemode: visit.subject.livemode };
    this.sight = visit.sight;
  }

  opened(socket: ServerWebSocket<Talk>): void {
    this.#socket = socket;
    this.#leave = this.lookout.join(this);
    this.#timer = setInterval(() => void this.#lookAgain(), LOOK_AGAIN_MS);
  }

  heard(_socket: ServerWebSocket<Talk>, text: string): void {
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
    const sight = await this.look().catch(() => this.sight);
    if (!sight) this.#socket?.close(SESSION_OVER, 'The session is over.');
    if (!sight || !this.#socket || sightKey(sight) === sightKey(this.sight)) return;
    this.sight = sight;
    const leave = this.#leave;
    this.#leave = this.lookout.join(this);
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
