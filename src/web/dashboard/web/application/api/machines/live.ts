import type {
  Counts,
  Movement,
  NewsCompleteness,
  ShownInstance,
  StateCount,
  Tick,
} from '../../../../../live/model.ts';
import type { Connection } from '../connection.ts';

type Listener = () => void;
type MoveListener = (move: Tick['moves'][number]) => void;

const REMEMBERED = 60;
/** A page that is one too many asks again this often. */
const FULL_MS = 30_000;
const SHOW = { type: 'machines', on: true } as const;
const NONE_YET: readonly number[] = Array.from({ length: 60 }, () => 0);

/** Everything that moves, as the connection reports it; components subscribe to the part that they show. */
export class LiveMachines {
  counts: Counts = {};
  recent: readonly Movement[] = [];
  /** The running instances; none until the service has sent them. */
  instances: readonly ShownInstance[] = [];
  completeness: NewsCompleteness = 'all';
  /** True while the most pages show machines already. */
  isFull = false;
  /** Transitions of the last minute that `recent` has never listed, in each second, latest last. */
  unshown: readonly number[] = NONE_YET;
  /** Transitions in each of the last seconds, latest last. */
  rate: readonly number[] = NONE_YET;
  readonly #listeners = new Set<Listener>();
  readonly #moves = new Set<MoveListener>();
  readonly #changes = new Map<string, Set<Listener>>();
  #watched: string | null = null;
  #followers = 0;
  #leave = () => {};

  constructor(private readonly connection: Connection) {}

  /** Asks for what moves until the returned function is called, as often as it is called. */
  follow(): () => void {
    if (++this.#followers === 1) this.#leave = this.#follow();
    return () => {
      if (--this.#followers === 0) this.#leave();
    };
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
    this.#watch(id);
    const listeners = this.#changes.get(id) ?? new Set();
    listeners.add(listener);
    this.#changes.set(id, listeners);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#changes.delete(id);
      if (this.#watched !== id) return;
      this.#watched = null;
      this.#watch(null);
    };
  }

  count(kind: string, state: string): StateCount | null {
    return this.counts[kind]?.[state] ?? null;
  }

  #follow(): () => void {
    const second = window.setInterval(() => this.#nextSecond(), 1_000);
    const retry = window.setInterval(() => {
      if (this.isFull) this.connection.send(SHOW);
    }, FULL_MS);
    const leaveMessages = this.connection.onMessage((message) => {
      if (message.type === 'tick') this.#receive(message);
      if (message.type !== 'full') return;
      this.isFull = true;
      this.#notify();
    });
    const leaveOpenings = this.connection.onOpen(() => {
      this.connection.send(SHOW);
      if (this.#watched !== null) this.#watch(this.#watched);
      // Changes during a lost connection are never reported.
      for (const listeners of this.#changes.values()) for (const changed of listeners) changed();
    });
    return () => {
      window.clearInterval(second);
      window.clearInterval(retry);
      leaveMessages();
      leaveOpenings();
      this.connection.send({ type: 'machines', on: false });
      this.rate = NONE_YET;
      this.unshown = NONE_YET;
    };
  }

  #receive(tick: Tick): void {
    this.isFull = false;
    if (tick.counts) this.counts = tick.counts;
    if (tick.instances) this.instances = tick.instances;
    this.completeness = tick.completeness;
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

  #watch(id: string | null): void {
    this.connection.send({ type: 'watch', id });
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
