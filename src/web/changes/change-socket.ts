import type { ServerWebSocket } from 'bun';
import type { Scope } from '../../engine/machine/result.ts';
import type { Permission } from '../../http/auth/permissions.ts';
import type { SocketSession } from '../../http/listen/listen.ts';
import { GOING_AWAY, SESSION_OVER } from '../../http/listen/session-socket.ts';
import { type ChangeFeed, EVERYTHING, type Follower } from './change-feed.ts';
import type { ChangeMessage } from './model.ts';

/**
 * The bytes that may wait for a reader. A slower reader gets no messages, and later one that says that
 * anything may have changed.
 */
export const BACKLOG = 65_536;
/** A reader that reads nothing for this time is disconnected; its browser reconnects when it can. */
export const SLOW_MS = 30_000;
/**
 * The close code for a reader that is too slow (RFC 6455, 7.4.1: a condition that prevents the server from
 * continuing).
 */
const TOO_SLOW = 1_011;
/** The time between two checks of a connection's session, which another instance may have ended. */
const RECHECK_MS = 15_000;

/** The part of a WebSocket that is needed here. */
type Socket = Pick<ServerWebSocket<SocketSession>, 'send' | 'close' | 'getBufferedAmount'>;

/** The connection of one page of the application. It only ever tells; what the page sends is passed over. */
export class ChangeSocket implements SocketSession, Follower {
  permissions: readonly Permission[];
  #socket: Socket | null = null;
  #leave: (() => void) | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;
  /** The time since which the reader gets no messages; null while it keeps up. */
  #behindSince: number | null = null;

  constructor(
    readonly scope: Scope,
    permissions: readonly Permission[],
    private readonly deps: {
      readonly feed: Pick<ChangeFeed, 'join'>;
      readonly readPermissions: () => Promise<readonly Permission[] | null>;
      readonly monotonic: () => number;
    },
  ) {
    this.permissions = permissions;
  }

  opened(socket: Socket): void {
    this.#socket = socket;
    this.#leave = this.deps.feed.join(this);
    this.#timer = setInterval(() => void this.#recheck(), RECHECK_MS);
  }

  received(): void {}

  closed(): void {
    clearInterval(this.#timer);
    this.#leave?.();
    this.#socket = null;
  }

  end(): void {
    this.#socket?.close(GOING_AWAY);
  }

  tell(message: ChangeMessage): void {
    if (!this.#socket) return;
    if (this.#socket.getBufferedAmount() >= BACKLOG) {
      this.#behindSince ??= this.deps.monotonic();
      if (this.deps.monotonic() - this.#behindSince >= SLOW_MS)
        this.#socket.close(TOO_SLOW, 'The connection is too slow.');
      return;
    }
    const missed = this.#behindSince !== null;
    this.#behindSince = null;
    this.#socket.send(JSON.stringify(missed ? EVERYTHING : message));
  }

  async #recheck(): Promise<void> {
    // A database that is away for a moment ends no session.
    const permissions = await this.deps.readPermissions().catch(() => this.permissions);
    if (permissions) this.permissions = permissions;
    else this.#socket?.close(SESSION_OVER, 'The session is over.');
  }
}
