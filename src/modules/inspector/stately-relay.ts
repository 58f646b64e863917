import type { ServerWebSocket } from 'bun';
import type { AnyMachineSnapshot } from 'xstate';
import type { Database } from '../../db/database.ts';
import type { Draft } from '../../engine/draft.ts';
import type { Kind } from '../../engine/kind.ts';
import type { Scope } from '../../engine/result.ts';
import type { SocketSession } from '../../http/listen.ts';
import type { FeedSource } from './live-feed.ts';
import { GOING_AWAY, SESSION_OVER } from './live-socket.ts';
import { introduction, introductionText, newsTexts } from './stately.ts';
import type { Visibility } from './visibility.ts';
import type { InspectorSession } from './visits.ts';

/** Actors of each kind that a new client is shown. */
const RECENT = 25;
/** Actors that are followed at once: the tools draw every one of them, and a person follows fewer. */
const FOLLOWED = 200;
/** Messages a second; the rest of a busy second is not told (the next one tells where the actors are then). */
const MOST_A_SECOND = 400;
const BACKLOG = 1_048_576;
const LOOK_AGAIN_MS = 15_000;

interface Row {
  readonly id: string;
  readonly state: string;
  readonly context: unknown;
}

/** What a relay reads from. */
export interface Relayed {
  readonly engine: FeedSource & { readonly kinds: readonly Kind[] };
  readonly database: Database;
  now(): number;
}

/**
 * Speaks Stately's inspector protocol to one client: first the latest actors as they are, then what happens to them and to new
 * ones. Of a crowd it follows a sample, the latest 200; a client that reads too slowly misses messages.
 */
export class StatelyRelay implements SocketSession {
  /** Ids in the order in which they were last heard of: the ring that the oldest falls out of. */
  readonly #followed = new Set<string>();
  #socket: ServerWebSocket<SocketSession> | null = null;
  #leave: (() => void) | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;
  #second = 0;
  #told = 0;
  #visibility: Visibility;
  readonly #scope: Scope;
  /** What happened while the first actors were being read. */
  #early: string[] | null = [];

  constructor(
    private readonly from: Relayed,
    visit: InspectorSession,
    private readonly look: () => Promise<Visibility | null>,
    private readonly gone: (talk: SocketSession) => void,
  ) {
    this.#scope = visit.subject;
    this.#visibility = visit.visibility;
  }

  opened(socket: ServerWebSocket<SocketSession>): void {
    this.#socket = socket;
    this.#leave = this.from.engine.listen((kind, drafts) => this.#note(socket, kind, drafts));
    this.#timer = setInterval(() => {
      void this.look()
        .catch(() => this.#visibility)
        .then((visibility) => {
          if (visibility) this.#visibility = visibility;
          else socket.close(SESSION_OVER, 'The session is over.');
        });
    }, LOOK_AGAIN_MS);
    void this.#introduce(socket).catch(() => socket.close(1_011, 'The database does not answer.'));
  }

  /** The tools greet with `@statelyai.connected`; nothing they say changes what they are told. */
  received(): void {}

  end(): void {
    this.#socket?.close(GOING_AWAY);
  }

  closed(): void {
    this.gone(this);
    this.#leave?.();
    clearInterval(this.#timer);
  }

  async #introduce(socket: ServerWebSocket<SocketSession>): Promise<void> {
    for (const kind of this.from.engine.kinds) {
      if (!this.#visibility.has(kind.name)) continue;
      const rows = await this.from.database.query<Row>(
        `with near as materialized (select id, workspace_id, livemode, state, context from ${kind.table} order by id desc limit 2000)
         select id, state, context from near where workspace_id = $1 and livemode = $2 order by id desc limit ${RECENT}`,
        [this.#scope.workspaceId, this.#scope.livemode],
      );
      for (const row of rows.toReversed()) {
        if (this.#followed.has(row.id)) continue;
        this.#follow(row.id);
        const actor = { id: row.id, snapshot: snapshotIn(kind, row) };
        this.#send(socket, JSON.stringify(introduction(kind, actor, this.from.now())));
      }
    }
    const early = this.#early ?? [];
    this.#early = null;
    for (const message of early) this.#send(socket, message);
  }

  #note(socket: ServerWebSocket<SocketSession>, kind: Kind, drafts: readonly Draft[]): void {
    if (!this.#visibility.has(kind.name)) return;
    for (const draft of drafts) {
      const { after } = draft;
      if (after.workspaceId !== this.#scope.workspaceId || after.livemode !== this.#scope.livemode) continue;
      if (!this.#hasRoom()) return;
      const isKnown = this.#followed.has(after.id);
      this.#follow(after.id);
      const messages = isKnown ? newsTexts(kind, draft) : [introductionText(kind, draft, this.from.now())];
      this.#told += messages.length;
      for (const message of messages) this.#tell(socket, message);
    }
  }

  #hasRoom(): boolean {
    const second = Math.floor(this.from.now() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#told = 0;
    }
    return this.#told < MOST_A_SECOND;
  }

  #follow(id: string): void {
    this.#followed.delete(id);
    this.#followed.add(id);
    if (this.#followed.size <= FOLLOWED) return;
    const [oldest = ''] = this.#followed;
    this.#followed.delete(oldest);
  }

  #tell(socket: ServerWebSocket<SocketSession>, message: string): void {
    if (!this.#early) this.#send(socket, message);
    else if (this.#early.length < MOST_A_SECOND) this.#early.push(message);
  }

  #send(socket: ServerWebSocket<SocketSession>, message: string): void {
    if (socket.getBufferedAmount() < BACKLOG) socket.send(message);
  }
}

const snapshotIn = (kind: Kind, { state, context }: Row): AnyMachineSnapshot =>
  kind.machine.resolveState({ value: state, context } as never) as AnyMachineSnapshot;
