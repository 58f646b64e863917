import type { ServerWebSocket } from 'bun';
import type { Draft } from '../../../engine/machine/draft.ts';
import { decodeState, type Kind, type Snapshot } from '../../../engine/machine/kind.ts';
import type { Scope } from '../../../engine/machine/result.ts';
import type { SocketSession } from '../../../http/listen/listen.ts';
import { GOING_AWAY, SESSION_OVER } from '../../../http/listen/session-socket.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { FeedSource, News } from '../exchange/gathered.ts';
import type { OtherInstances } from '../exchange/live-exchange.ts';
import type { InspectorSession } from '../inspector-sessions.ts';
import { RECHECK_MS } from '../page-socket.ts';
import type { Visibility } from '../visibility.ts';
import { introduction, introductionText, newsTexts, toldTexts } from './stately.ts';

/** Actors of each kind that are sent to a new client. */
const RECENT = 25;
/** Most actors that are reported at once: the tools draw every one of them. */
const MOST_REPORTED = 200;
/**
 * Most messages a second. The rest of a busy second is dropped; the next one reports the states of the actors
 * then.
 */
const MOST_A_SECOND = 400;
const BACKLOG = 1_048_576;
/** News of other instances that wait until their actors are read; those beyond it are left out. */
const MOST_HEARD = 32;

interface Row {
  readonly id: string;
  readonly state: string;
  readonly context: unknown;
}

export interface RelaySource {
  readonly engine: FeedSource & { readonly kinds: readonly Kind[] };
  readonly database: Database;
  /** The commits of other instances. */
  readonly others: Pick<OtherInstances, 'join'>;
  now(): number;
}

/**
 * Speaks Stately's inspector protocol to one client: it sends the latest actors first, then their transitions
 * and those of new ones. It reports at most the 200 actors that changed last, and a client that reads too
 * slowly misses messages. Of what another instance commits it reports the transitions that the live view
 * would list, each with its actor as it is when that is read.
 */
export class StatelyRelay implements SocketSession {
  /** The reported actors in the order of their last change; the oldest is dropped first. */
  readonly #reported = new Set<string>();
  #socket: ServerWebSocket<SocketSession> | null = null;
  #leave: readonly (() => void)[] = [];
  /**
   * The news of other instances that arrives while earlier news is processed; one round brings that of all of
   * them.
   */
  readonly #heard: News[] = [];
  #isReading = false;
  #timer: ReturnType<typeof setInterval> | undefined;
  #second = 0;
  #sent = 0;
  #visibility: Visibility;
  readonly #scope: Scope;
  /** The messages from the time when the first actors were being read. */
  #early: string[] | null = [];

  constructor(
    private readonly from: RelaySource,
    session: InspectorSession,
    private readonly readVisibility: () => Promise<Visibility | null>,
  ) {
    this.#scope = session.subject;
    this.#visibility = session.visibility;
  }

  opened(socket: ServerWebSocket<SocketSession>): void {
    this.#socket = socket;
    this.#leave = [
      this.from.engine.listen((kind, drafts) => this.#note(socket, kind, drafts)),
      this.from.others.join(this.#scope, ({ news }) => this.#hear(socket, news)),
    ];
    this.#timer = setInterval(() => {
      void this.readVisibility()
        .catch(() => this.#visibility)
        .then((visibility) => {
          if (visibility) this.#visibility = visibility;
          else socket.close(SESSION_OVER, 'The session is over.');
        });
    }, RECHECK_MS);
    void this.#introduce(socket).catch(() => socket.close(1_011, 'The database does not answer.'));
  }

  /** The tools send `@statelyai.connected` and need no answer. */
  received(): void {}

  end(): void {
    this.#socket?.close(GOING_AWAY);
  }

  closed(): void {
    this.#socket = null;
    for (const leave of this.#leave) leave();
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
        if (this.#reported.has(row.id)) continue;
        this.#report(row.id);
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
      if (!this.#isWithinRate()) return;
      const isKnown = this.#reported.has(after.id);
      this.#report(after.id);
      const messages = isKnown ? newsTexts(kind, draft) : [introductionText(kind, draft, this.from.now())];
      this.#sent += messages.length;
      for (const message of messages) this.#enqueue(socket, message);
    }
  }

  #hear(socket: ServerWebSocket<SocketSession>, news: News): void {
    if (this.#heard.length < MOST_HEARD) this.#heard.push(news);
    if (this.#isReading) return;
    this.#isReading = true;
    void this.#readHeard(socket).finally(() => {
      this.#isReading = false;
    });
  }

  async #readHeard(socket: ServerWebSocket<SocketSession>): Promise<void> {
    for (let news = this.#heard.shift(); news; news = this.#heard.shift())
      // News that cannot be read, or that another version wrote in another form, is left out.
      await this.#tell(socket, news).catch(() => {});
  }

  async #tell(socket: ServerWebSocket<SocketSession>, news: News): Promise<void> {
    const actors = await presentOf(this.from, this.#scope, news);
    for (const { kind: name, ...move } of news.sample) {
      const present = actors.get(move.id);
      if (!present || !this.#visibility.has(name)) continue;
      if (!this.#isWithinRate()) return;
      const messages = this.#reported.has(move.id)
        ? toldTexts(present.actor, move)
        : [JSON.stringify(introduction(present.kind, present.actor, this.from.now()))];
      this.#report(move.id);
      this.#sent += messages.length;
      for (const message of messages) this.#enqueue(socket, message);
    }
  }

  #isWithinRate(): boolean {
    const second = Math.floor(this.from.now() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#sent = 0;
    }
    return this.#sent < MOST_A_SECOND;
  }

  #report(id: string): void {
    this.#reported.delete(id);
    this.#reported.add(id);
    if (this.#reported.size <= MOST_REPORTED) return;
    const [oldest = ''] = this.#reported;
    this.#reported.delete(oldest);
  }

  #enqueue(socket: ServerWebSocket<SocketSession>, message: string): void {
    if (!this.#early) this.#send(socket, message);
    else if (this.#early.length < MOST_A_SECOND) this.#early.push(message);
  }

  #send(socket: ServerWebSocket<SocketSession>, message: string): void {
    // A result that arrives after the connection ended is dropped.
    if (this.#socket && socket.getBufferedAmount() < BACKLOG) socket.send(message);
  }
}

/** An actor of another instance's news, as it is now. */
interface CurrentActor {
  readonly kind: Kind;
  readonly actor: { readonly id: string; readonly snapshot: Snapshot };
}

/** All clients share the result of one read, because each of them gets the same object. */
const presents = new WeakMap<News, Promise<ReadonlyMap<string, CurrentActor>>>();

function presentOf(from: RelaySource, scope: Scope, news: News): Promise<ReadonlyMap<string, CurrentActor>> {
  const known = presents.get(news);
  if (known) return known;
  const reading = readPresent(from, scope, news);
  presents.set(news, reading);
  return reading;
}

async function readPresent(
  { engine, database }: RelaySource,
  { workspaceId, livemode }: Scope,
  { sample }: News,
): Promise<ReadonlyMap<string, CurrentActor>> {
  const found = new Map<string, CurrentActor>();
  for (const [name, moves] of Map.groupBy(sample, (move) => move.kind)) {
    const kind = engine.kinds.find((one) => one.name === name);
    if (!kind) continue;
    const ids = [...new Set(moves.map(({ id }) => id))];
    const rows = await database.query<Row>(
      `select id, state, context from ${kind.table} where id = any($1) and workspace_id = $2 and livemode = $3`,
      [ids, workspaceId, livemode],
      { isPage: true },
    );
    for (const row of rows)
      found.set(row.id, { kind, actor: { id: row.id, snapshot: snapshotIn(kind, row) } });
  }
  return found;
}

/**
 * An actor that runs a definition may be in a state that the kind's own machine does not have; the final ones
 * are the same.
 */
const snapshotIn = (kind: Kind, { state, context }: Row): Snapshot => ({
  value: state,
  context,
  status:
    kind.machine.states[kind.hasDefinitions ? state : decodeState(kind, state)]?.type === 'final'
      ? 'done'
      : 'active',
});
