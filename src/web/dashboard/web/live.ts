import type {
  Counts,
  Movement,
  NewsCompleteness,
  ShownInstance,
  StateCount,
  Tick,
  Watch,
} from '../../live/model.ts';
import type { Source } from './api.ts';

/** The state of the connection: `over` when the session has ended, after which it does not reconnect. */
export type Connection = 'connecting' | 'live' | 'lost' | 'over';

type Listener = () => void;
type MoveListener = (move: Tick['moves'][number]) => void;

const SESSION_OVER = 4_401;
const REMEMBERED = 60;
/** The service speaks at least every five seconds. */
const SILENCE_MS = 12_000;
const NONE_YET: readonly number[] = Array.from({ length: 60 }, () => 0);
const LONGEST_WAIT_MS = 10_000;

/** The connection to the service, and everything that arrives over it; components subscribe to the part that they show. */
export class LiveConnection {
  connection: Connection = 'connecting';
  counts: Counts = {};
  recent: readonly Movement[] = [];
  /** The running instances; none until the service has sent them. */
  instances: readonly ShownInstance[] = [];
  hearing: NewsCompleteness = 'all';
  /** Transitions of the last minute that `recent` has never listed, in each second, latest last. */
  unshown: readonly number[] = NONE_YET;
  /** Transitions in each of the last seconds, latest last. */
  rate: readonly number[] = NONE_YET;
  readonly #listeners = new Set<Listener>();
  readonly #moves = new Set<MoveListener>();
  readonly #changes = new Map<string, Set<Listener>>();
  #socket: WebSocket | null = null;
  #tries = 0;
  #retry = 0;
  #silence = 0;
  #second = 0;
  #watched: string | null = null;
  #ended = false;

  constructor(readonly source: Source) {}

  /** Connects, and stays connected until `end`. */
  start(): void {
    this.#second = window.setInterval(() => this.#nextSecond(), 1_000);
    this.#connect();
  }

  end(): void {
    this.#ended = true;
    window.clearInterval(this.#second);
    window.clearTimeout(this.#retry);
    window.clearTimeout(this.#silence);
    this.#socket?.close();
  }

  subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Calls the listener for every transition. */
  onMove(listener: MoveListener): () => void {
    this.#moves.add(listener);
    return () => this.#moves.delete(listener);
  }

  /** Calls the listener when the actor has changed; one actor is watched at a time. */
  watch(id: string, listener: Listener): () => void {
    this.#watched = id;
    this.#send({ type: 'watch', id });
    const listeners = this.#changes.get(id) ?? new Set();
    listeners.add(listener);
    this.#changes.set(id, listeners);
    return () => {
      listeners.delete(listener);
      if (this.#watched !== id) return;
      this.#watched = null;
      this.#send({ type: 'watch', id: null });
    };
  }

  count(kind: string, state: string): StateCount | null {
    return this.counts[kind]?.[state] ?? null;
  }

  #connect(): void {
    const socket = new WebSocket(location.origin.replace(/^http/, 'ws') + this.source.socket);
    this.#socket = socket;
    socket.onopen = () => {
      this.#tries = 0;
      this.connection = 'live';
      this.#expectMore();
      if (this.#watched !== null) this.#send({ type: 'watch', id: this.#watched });
      // Changes during a lost connection are never reported.
      for (const listeners of this.#changes.values()) for (const changed of listeners) changed();
      this.#notify();
    };
    socket.onmessage = ({ data }) => {
      this.#expectMore();
      this.#receive(JSON.parse(String(data)) as Tick);
    };
    socket.onclose = ({ code }) => {
      window.clearTimeout(this.#silence);
      if (this.#ended) return;
      this.connection = code === SESSION_OVER ? 'over' : 'lost';
      this.#notify();
      if (this.connection === 'over') return;
      const wait = Math.min(LONGEST_WAIT_MS, 400 * 2 ** this.#tries++) * (0.75 + Math.random() / 2);
      this.#retry = window.setTimeout(() => this.#connect(), wait);
    };
  }

  /** A connection that is silent for too long is dead, whatever the browser reports. */
  #expectMore(): void {
    window.clearTimeout(this.#silence);
    this.#silence = window.setTimeout(() => this.#socket?.close(), SILENCE_MS);
  }

  #receive(tick: Tick): void {
    if (tick.counts) this.counts = tick.counts;
    if (tick.instances) this.instances = tick.instances;
    this.hearing = tick.hearing;
    for (const move of tick.moves) for (const listener of this.#moves) listener(move);
    if (tick.sample.length + tick.unshown > 0) {
      this.rate = plus(this.rate, tick.sample.length + tick.unshown);
      this.unshown = plus(this.unshown, tick.unshown);
      // Moves of other instances arrive a moment later than those of this instance.
      this.recent = [...tick.sample.toReversed(), ...this.recent]
        .sort((one, other) => other.at - one.at)
        .slice(0, REMEMBERED);
    }
    for (const id of tick.changed) for (const changed of this.#changes.get(id) ?? []) changed();
    this.#notify();
  }

  #nextSecond(): void {
    this.rate = [...this.rate.slice(1), 0];
    if (this.unshown.some((one) => one > 0)) this.unshown = [...this.unshown.slice(1), 0];
    this.#notify();
  }

  #send(watch: Watch): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(watch));
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Adds to the last second. */
const plus = (seconds: readonly number[], more: number): readonly number[] => [
  ...seconds.slice(0, -1),
  (seconds.at(-1) ?? 0) + more,
];
