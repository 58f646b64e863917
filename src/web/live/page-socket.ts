import type { ServerWebSocket } from 'bun';
import type { Scope } from '../../engine/machine/result.ts';
import type { Permission } from '../../http/auth/permissions.ts';
import type { SocketSession } from '../../http/listen/listen.ts';
import { GOING_AWAY, SESSION_OVER } from '../../http/listen/session-socket.ts';
import type { KeyedBudget } from '../../platform/async/keyed-budget.ts';
import type { Follower } from './feed/changed-resources.ts';
import type { Viewer } from './feed/machine-viewers.ts';
import { EVERYTHING, type PageFeed } from './feed/page-feed.ts';
import type { ChangeMessage, PageMessage, ServiceMessage } from './model.ts';
import { type Visibility, visibilityKey } from './visibility.ts';

/**
 * The bytes that may wait for a page. A slower page gets no messages: later one that says that anything may
 * have changed, and the number of missed moves.
 */
export const BACKLOG = 65_536;
/** A page that reads nothing for this time is disconnected; its browser reconnects when it can. */
export const SLOW_MS = 30_000;
/**
 * The close code for a reader that is too slow (RFC 6455, 7.4.1: a condition that prevents the server from
 * continuing).
 */
const TOO_SLOW = 1_011;
/**
 * The time between two checks of a session while machines are shown: the longest until the end of one on
 * another instance is noticed.
 */
export const RECHECK_MS = 5_000;
/** Without machines, each third check is made: resources are only named, and read with all checks. */
const UNSHOWN_CHECKS = 3;

/** The access of a page to its environment. */
export interface PageAccess {
  readonly permissions: readonly Permission[];
  /** The kinds of actors that the page may show; null for none. */
  readonly visibility: Visibility | null;
}

export interface PageSocketDeps {
  readonly feed: Pick<PageFeed, 'follow' | 'join'>;
  /** The pages of members that may show machines at once. */
  readonly shown: Pick<KeyedBudget, 'take' | 'give'>;
  /** The access that the session has now; null once it has ended. */
  readonly readAccess: () => Promise<PageAccess | null>;
  readonly monotonic: () => number;
}

/** The part of a WebSocket that is needed here. */
type Socket = Pick<ServerWebSocket<SocketSession>, 'send' | 'close' | 'getBufferedAmount'>;

/**
 * The one connection of a page. A member's page hears of changed resources, and of machines when it asks; a
 * guest's of machines alone.
 */
export class PageSocket implements SocketSession, Follower, Viewer {
  watched: string | null = null;
  #access: PageAccess;
  #socket: Socket | null = null;
  #unfollow: (() => void) | null = null;
  #hide: (() => void) | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;
  #checks = 0;
  /** The time since which the page hears nothing; null while it keeps up. */
  #behindSince: number | null = null;

  constructor(
    readonly scope: Scope,
    access: PageAccess,
    private readonly of: 'member' | 'guest',
    private readonly deps: PageSocketDeps,
  ) {
    this.#access = access;
  }

  get permissions(): readonly Permission[] {
    return this.#access.permissions;
  }

  get visibility(): Visibility {
    return this.#access.visibility ?? NOTHING;
  }

  opened(socket: Socket): void {
    this.#socket = socket;
    if (this.of === 'member') this.#unfollow = this.deps.feed.follow(this);
    else this.#showMachines();
    this.#timer = setInterval(() => void this.#recheck(), RECHECK_MS);
  }

  received(_socket: unknown, text: string): void {
    const message = messageIn(text);
    if (message?.type === 'watch') this.watched = message.id;
    if (message?.type !== 'machines') return;
    // A page that asks again has missed what it was told before it listened, and gets the whole state.
    this.#hideMachines();
    if (message.on) this.#showMachines();
  }

  closed(): void {
    clearInterval(this.#timer);
    this.#unfollow?.();
    this.#hideMachines();
    this.#socket = null;
  }

  end(): void {
    this.#socket?.close(GOING_AWAY);
  }

  tell(message: ChangeMessage): void {
    if (!this.#socket) return;
    if (this.isFull) {
      this.#behindSince ??= this.deps.monotonic();
      if (this.deps.monotonic() - this.#behindSince >= SLOW_MS)
        this.#socket.close(TOO_SLOW, 'The connection is too slow.');
      return;
    }
    const missed = this.#behindSince !== null;
    this.#behindSince = null;
    this.#socket.send(JSON.stringify(missed ? EVERYTHING : message));
  }

  get isFull(): boolean {
    return (this.#socket?.getBufferedAmount() ?? 0) >= BACKLOG;
  }

  show(text: string): void {
    this.#socket?.send(text);
  }

  #showMachines(): void {
    if (!this.#access.visibility) return;
    if (this.of === 'member' && !this.deps.shown.take(this.scope.workspaceId))
      return this.show(JSON.stringify(FULL));
    const leave = this.deps.feed.join(this);
    this.#hide = () => {
      leave();
      if (this.of === 'member') this.deps.shown.give(this.scope.workspaceId);
    };
  }

  #hideMachines(): void {
    this.#hide?.();
    this.#hide = null;
  }

  async #recheck(): Promise<void> {
    if (this.#hide === null && ++this.#checks % UNSHOWN_CHECKS !== 0) return;
    // A database that is away for a moment ends no session.
    const access = await this.deps.readAccess().catch(() => this.#access);
    if (!access) this.#socket?.close(SESSION_OVER, 'The session is over.');
    if (!access || !this.#socket) return;
    const before = this.#access;
    this.#access = access;
    const isSame =
      visibilityKey(before.visibility ?? NOTHING) === visibilityKey(access.visibility ?? NOTHING);
    if (this.#hide === null || isSame) return;
    this.#hideMachines();
    this.#showMachines();
  }
}

const NOTHING: Visibility = new Set();
const FULL = { type: 'full' } as const satisfies ServiceMessage;

/** The possible form of an actor's id. */
const ID = /^[a-z0-9_]{1,60}$/;

/** The message of a page; null for any other text. An id that no actor can have counts as none. */
function messageIn(text: string): PageMessage | null {
  try {
    const { type, id, on } = JSON.parse(text) as {
      readonly type?: unknown;
      readonly id?: unknown;
      readonly on?: unknown;
    };
    if (type === 'watch') return { type, id: typeof id === 'string' && ID.test(id) ? id : null };
    return type === 'machines' && typeof on === 'boolean' ? { type, on } : null;
  } catch {
    return null;
  }
}
