import type { Draft } from '../../engine/draft.ts';
import type { CommitListener } from '../../engine/engine.ts';
import type { Kind } from '../../engine/kind.ts';
import type { Scope } from '../../engine/result.ts';
import type { Movement, Tick } from './model.ts';
import type { StateCounts } from './state-counts.ts';
import { type Visibility, visibilityKey } from './visibility.ts';

/** Viewers hear of what happened at most this often. */
const TICK_MS = 250;
/** Movements that are named one by one in a tick; the others are only counted. */
const SAMPLE = 12;
/** Says that nothing happened, so that a viewer knows the line is alive. */
const BEAT_TICKS = 20;

/** Somebody who looks. */
export interface Viewer {
  readonly scope: Scope;
  /** As it is on joining: whoever comes to see more or less joins again. */
  readonly visibility: Visibility;
  /** The actor that is open. */
  readonly watched: string | null;
  /** Sends, or drops where the line is full. */
  show(text: string): void;
}

/** What has happened in one environment of one workspace since the last tick, of the kinds in sight. */
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

/** What the lookout looks at. */
export interface FeedSource {
  listen(listener: CommitListener): () => void;
}

/**
 * Tells viewers what the engine commits. The engine is listened to only while somebody looks; each commit costs a look-up and
 * a count, and each tick one text for all viewers of an environment who see the same kinds, however many they are.
 */
export class LiveFeed {
  /** By environment, then by sight. */
  readonly #channels = new Map<string, Map<string, Channel>>();
  #leave: (() => void) | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;
  #viewers = 0;

  constructor(
    private readonly engine: FeedSource,
    private readonly stateCounts: StateCounts,
    private readonly now: () => number,
  ) {}

  /** Lets somebody look until the returned function is called. */
  join(viewer: Viewer): () => void {
    const key = keyOf(viewer.scope);
    const visibility = visibilityKey(viewer.visibility);
    const channels = this.#channels.get(key) ?? new Map<string, Channel>();
    const channel = channels.get(visibility) ?? emptyChannel(viewer);
    this.#channels.set(key, channels.set(visibility, channel));
    channel.viewers.add(viewer);
    // The newcomer needs the counts; the others get them once more.
    channel.countsShown = '';
    if (++this.#viewers === 1) this.#open();
    return () => {
      if (!channel.viewers.delete(viewer)) return;
      if (channel.viewers.size === 0) channels.delete(visibility);
      if (channels.size === 0) this.#channels.delete(key);
      if (--this.#viewers === 0) this.stop();
    };
  }

  /** Looks no more. */
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
