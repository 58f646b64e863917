import type { Draft } from '../../../engine/machine/draft.ts';
import type { Kind } from '../../../engine/machine/kind.ts';
import type { Scope } from '../../../engine/machine/result.ts';
import type { Tick } from '../model.ts';
import type { StateCounts } from '../state-counts.ts';
import { scopeKey, type Visibility, visibilityKey } from '../visibility.ts';
import { type FeedSource, FOR_VIEWERS, TransitionBuffer } from './gathered.ts';
import type { OtherInstances } from './live-exchange.ts';

/** Shortest time between two ticks for the viewers. */
const TICK_MS = 250;
/** Ticks without news before an empty one is sent, so that a viewer knows that the connection is alive. */
const BEAT_TICKS = 20;

/** A connected viewer. */
export interface Viewer {
  readonly scope: Scope;
  /** The kinds that the viewer may see when it joins. After a change of permissions it joins again. */
  readonly visibility: Visibility;
  /** The id of the actor that the viewer has opened. */
  readonly watched: string | null;
  /** True while too many bytes wait for the viewer, who gets no messages then. */
  readonly isFull: boolean;
  show(text: string): void;
}

/** The transitions in one environment since the last tick, of one set of visible kinds. */
interface Channel {
  readonly scope: Scope;
  readonly visibility: Visibility;
  readonly viewers: Set<Viewer>;
  readonly gathered: TransitionBuffer;
  /** The viewers that recently got no messages, each with the number of missed transitions. */
  readonly behind: Map<Viewer, number>;
  /** Ends hearing what other instances commit. */
  readonly leave: () => void;
  countsShown: string;
  instancesShown: string;
  hearingShown: string;
  silence: number;
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
    private readonly others: OtherInstances,
  ) {}

  /** Adds a viewer until the returned function is called. */
  join(viewer: Viewer): () => void {
    const key = scopeKey(viewer.scope);
    const visibility = visibilityKey(viewer.visibility);
    const channels = this.#channels.get(key) ?? new Map<string, Channel>();
    const channel = channels.get(visibility) ?? this.#channelOf(viewer);
    this.#channels.set(key, channels.set(visibility, channel));
    channel.viewers.add(viewer);
    // The new viewer needs the counts; the others receive them once more.
    channel.countsShown = '';
    channel.instancesShown = '';
    if (++this.#viewers === 1) this.#open();
    return () => {
      if (!channel.viewers.delete(viewer)) return;
      channel.behind.delete(viewer);
      if (channel.viewers.size === 0) {
        channels.delete(visibility);
        channel.leave();
      }
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
      for (const channel of this.#channels.get(scopeKey(draft.after))?.values() ?? [])
        if (channel.visibility.has(kind.name)) channel.gathered.note(kind.name, draft);
  }

  #tick(): void {
    const { instances } = this.others;
    const instancesText = JSON.stringify(instances);
    for (const channel of [...this.#channels.values()].flatMap((channels) => [...channels.values()])) {
      const counts = this.stateCounts.counts(channel.scope, channel.visibility);
      const countsText = JSON.stringify(counts);
      const hearing = this.others.hearing(channel.scope);
      const isNews =
        countsText !== channel.countsShown ||
        instancesText !== channel.instancesShown ||
        hearing !== channel.hearingShown ||
        channel.behind.size > 0 ||
        !channel.gathered.isEmpty;
      if (!isNews && ++channel.silence < BEAT_TICKS) continue;
      const watched = [...channel.viewers].flatMap((viewer) => viewer.watched ?? []);
      const tick: Tick = {
        ...{ type: 'tick', at: this.now(), hearing },
        ...channel.gathered.take(watched),
        counts: countsText === channel.countsShown ? null : counts,
        instances: instancesText === channel.instancesShown ? null : instances,
      };
      const text = JSON.stringify(tick);
      for (const viewer of channel.viewers) {
        const missed = channel.behind.get(viewer);
        if (viewer.isFull) channel.behind.set(viewer, (missed ?? 0) + tick.sample.length + tick.unshown);
        else {
          channel.behind.delete(viewer);
          // A viewer who missed messages gets the whole state.
          const whole =
            missed === undefined ? null : { ...tick, counts, instances, unshown: tick.unshown + missed };
          viewer.show(whole ? JSON.stringify(whole) : text);
        }
      }
      channel.countsShown = countsText;
      channel.instancesShown = instancesText;
      channel.hearingShown = hearing;
      channel.silence = 0;
    }
  }

  #channelOf({ scope: { workspaceId, livemode }, visibility }: Viewer): Channel {
    const scope = { workspaceId, livemode };
    const gathered = new TransitionBuffer(this.others.id, FOR_VIEWERS);
    const isVisible = (kind: string): boolean => visibility.has(kind);
    return {
      ...{ scope, visibility, gathered, viewers: new Set(), behind: new Map() },
      leave: this.others.join(scope, ({ instance, news, missed }) =>
        gathered.hear(instance.slice(0, 8), news, missed, isVisible),
      ),
      ...{ countsShown: '', instancesShown: '', hearingShown: '', silence: 0 },
    };
  }
}
