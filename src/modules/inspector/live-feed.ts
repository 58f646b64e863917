import type { Draft } from '../../engine/draft.ts';
import type { CommitListener } from '../../engine/engine.ts';
import type { Kind } from '../../engine/kind.ts';
import type { Scope } from '../../engine/result.ts';
import type { Movement, Tick } from './model.ts';
import type { StateCounts } from './state-counts.ts';
import { type Visibility, visibilityKey } from './visibility.ts';

/** Shortest time between two ticks for the viewers. */
const TICK_MS = 250;
/** Transitions that a tick lists one by one; the others are only counted. */
const SAMPLE = 12;
/** Ticks without news before an empty one is sent, so that a viewer knows that the connection is alive. */
const BEAT_TICKS = 20;

/** A connected viewer. */
export interface Viewer {
  readonly scope: Scope;
  /** The kinds that the viewer may see when it joins. After a change of permissions it joins again. */
  readonly visibility: Visibility;
  /** The id of the actor that the viewer has opened. */
  readonly watched: string | null;
  /** Sends a text, or drops it when the connection is full. */
  show(text: string): void;
}

/** The transitions in one environment since the last tick, of one set of visible kinds. */
interface Channel {
  readonly scope: Scope;
  readonly visibility: Visibility;
  readonly viewers: Set<Viewer>;
  readonly moves: Map<string, { readonly move: Movement; times: number }>;
  sample: Movement[];
  readonly changed: Set<string>;
  countsShown: string;
  silence: number;
}

/** The part of the engine that the feed listens to. */
export interface FeedSource {
  listen(listener: CommitListener): () => void;
}

/**
 * Reports the engine's commits to viewers. It listens to the engine only while a viewer is connected. Each commit costs a look-up
 * and a count, and each tick one text for all viewers of an environment who see the same kinds, however many they are.
 */
export class LiveFeed {
  /** The channels by environment, then by the set of visible kinds. */
  readonly #channels = new Map<string, Map<string, Channel>>();
  #leave: (() => void) | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;
  #viewers = 0;

  constructor(
    private readonly engine: FeedSource,
    private readonly stateCounts: StateCounts,
    private readonly now: () => number,
  ) {}

  /** Adds a viewer until the returned function is called. */
  join(viewer: Viewer): () => void {
    const key = keyOf(viewer.scope);
    const visibility = visibilityKey(viewer.visibility);
    const channels = this.#channels.get(key) ?? new Map<string, Channel>();
    const channel = channels.get(visibility) ?? emptyChannel(viewer);
    this.#channels.set(key, channels.set(visibility, channel));
    channel.viewers.add(viewer);
    // The new viewer needs the counts; the others receive them once more.
    channel.countsShown = '';
    if (++this.#viewers === 1) this.#open();
    return () => {
      if (!channel.viewers.delete(viewer)) return;
      if (channel.viewers.size === 0) channels.delete(visibility);
      if (channels.size === 0) this.#channels.delete(key);
      if (--this.#viewers === 0) this.stop();
    };
  }

  /** Stops listening to the engine. */
  stop(): void {
    clearInterval(this.#timer);
    this.#leave?.();
    this.#leave = null;
    this.stateCounts.stop();
  }

  #open(): void {
    this.#leave = this.engine.listen((kind, drafts) => this.#note(kind, drafts));
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    void this.stateCounts.start();
  }

  #note(kind: Kind, drafts: readonly Draft[]): void {
    this.stateCounts.note(kind, drafts);
    for (const draft of drafts)
      for (const channel of this.#channels.get(keyOf(draft.after))?.values() ?? [])
        if (channel.visibility.has(kind.name)) recordIn(channel, kind, draft);
  }

  #tick(): void {
    for (const channel of [...this.#channels.values()].flatMap((channels) => [...channels.values()])) {
      const counts = this.stateCounts.counts(channel.scope, channel.visibility);
      const countsText = JSON.stringify(counts);
      const watched = [...channel.viewers].flatMap((viewer) => viewer.watched ?? []);
      const changed = [...new Set(watched)].filter((id) => channel.changed.has(id));
      const isNews = countsText !== channel.countsShown || channel.moves.size > 0;
      if (!isNews && ++channel.silence < BEAT_TICKS) continue;
      const tick: Tick = {
        type: 'tick',
        at: this.now(),
        moves: [...channel.moves.values()].map(({ move: { kind, event, from, to }, times }) => ({
          kind,
          event,
          from,
          to,
          times,
        })),
        sample: channel.sample,
        counts: countsText === channel.countsShown ? null : counts,
        changed,
      };
      const text = JSON.stringify(tick);
      for (const viewer of channel.viewers) viewer.show(text);
      channel.countsShown = countsText;
      channel.moves.clear();
      channel.sample = [];
      channel.changed.clear();
      channel.silence = 0;
    }
  }
}

function recordIn(channel: Channel, kind: Kind, { after, steps }: Draft): void {
  channel.changed.add(after.id);
  for (const { event, from, to, at } of steps) {
    const key = `${kind.name} ${from} ${event} ${to}`;
    const counted = channel.moves.get(key);
    if (counted && channel.sample.length >= SAMPLE) {
      counted.times++;
      continue;
    }
    const move = { kind: kind.name, id: after.id, event, from, to, at };
    if (counted) counted.times++;
    else channel.moves.set(key, { move, times: 1 });
    if (channel.sample.length < SAMPLE) channel.sample.push(move);
  }
}

const keyOf = ({ workspaceId, livemode }: Scope): string => `${workspaceId} ${livemode}`;

const emptyChannel = ({ scope: { workspaceId, livemode }, visibility }: Viewer): Channel => ({
  scope: { workspaceId, livemode },
  visibility,
  viewers: new Set(),
  moves: new Map(),
  sample: [],
  changed: new Set(),
  countsShown: '',
  silence: 0,
});
