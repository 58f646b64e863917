import type { CommitListener } from '../../engine/engine.ts';
import type { Kind } from '../../engine/kind.ts';
import type { Draft } from '../../engine/tell-batch.ts';
import type { Scope } from '../../engine/told.ts';
import type { Census } from './census.ts';
import type { Movement, Tick } from './model.ts';
import { type Sight, sightKey } from './sight.ts';

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
  readonly sight: Sight;
  /** The actor that is open. */
  readonly watched: string | null;
  /** Sends, or drops where the line is full. */
  show(text: string): void;
}

/** What has happened in one environment of one workspace since the last tick, of the kinds in sight. */
interface Scene {
  readonly scope: Scope;
  readonly sight: Sight;
  readonly viewers: Set<Viewer>;
  readonly moves: Map<string, { readonly move: Movement; times: number }>;
  sample: Movement[];
  readonly changed: Set<string>;
  countsShown: string;
  silence: number;
}

/** What the lookout looks at. */
export interface LookedAt {
  listen(listener: CommitListener): () => void;
}

/**
 * Tells viewers what the engine commits. The engine is listened to only while somebody looks; each commit costs a look-up and
 * a count, and each tick one text for all viewers of an environment who see the same kinds, however many they are.
 */
export class Lookout {
  /** By environment, then by sight. */
  readonly #scenes = new Map<string, Map<string, Scene>>();
  #leave: (() => void) | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;
  #viewers = 0;

  constructor(
    private readonly engine: LookedAt,
    private readonly census: Census,
    private readonly now: () => number,
  ) {}

  /** Lets somebody look until the returned function is called. */
  join(viewer: Viewer): () => void {
    const key = keyOf(viewer.scope);
    const sight = sightKey(viewer.sight);
    const scenes = this.#scenes.get(key) ?? new Map<string, Scene>();
    const scene = scenes.get(sight) ?? emptyScene(viewer);
    this.#scenes.set(key, scenes.set(sight, scene));
    scene.viewers.add(viewer);
    // The newcomer needs the counts; the others get them once more.
    scene.countsShown = '';
    if (++this.#viewers === 1) this.#open();
    return () => {
      if (!scene.viewers.delete(viewer)) return;
      if (scene.viewers.size === 0) scenes.delete(sight);
      if (scenes.size === 0) this.#scenes.delete(key);
      if (--this.#viewers === 0) this.stop();
    };
  }

  /** Looks no more. */
  stop(): void {
    clearInterval(this.#timer);
    this.#leave?.();
    this.#leave = null;
    this.census.stop();
  }

  #open(): void {
    this.#leave = this.engine.listen((kind, drafts) => this.#note(kind, drafts));
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    void this.census.start();
  }

  #note(kind: Kind, drafts: readonly Draft[]): void {
    this.census.note(kind, drafts);
    for (const draft of drafts)
      for (const scene of this.#scenes.get(keyOf(draft.after))?.values() ?? [])
        if (scene.sight.has(kind.name)) noteIn(scene, kind, draft);
  }

  #tick(): void {
    for (const scene of [...this.#scenes.values()].flatMap((scenes) => [...scenes.values()])) {
      const counts = this.census.counts(scene.scope, scene.sight);
      const countsText = JSON.stringify(counts);
      const watched = [...scene.viewers].flatMap((viewer) => viewer.watched ?? []);
      const changed = [...new Set(watched)].filter((id) => scene.changed.has(id));
      const isNews = countsText !== scene.countsShown || scene.moves.size > 0;
      if (!isNews && ++scene.silence < BEAT_TICKS) continue;
      const tick: Tick = {
        type: 'tick',
        at: this.now(),
        moves: [...scene.moves.values()].map(({ move: { kind, event, from, to }, times }) => ({
          kind,
          event,
          from,
          to,
          times,
        })),
        sample: scene.sample,
        counts: countsText === scene.countsShown ? null : counts,
        changed,
      };
      const text = JSON.stringify(tick);
      for (const viewer of scene.viewers) viewer.show(text);
      scene.countsShown = countsText;
      scene.moves.clear();
      scene.sample = [];
      scene.changed.clear();
      scene.silence = 0;
    }
  }
}

function noteIn(scene: Scene, kind: Kind, { after, steps }: Draft): void {
  scene.changed.add(after.id);
  for (const { event, from, to, at } of steps) {
    const key = `${kind.name} ${from} ${event} ${to}`;
    const counted = scene.moves.get(key);
    if (counted && scene.sample.length >= SAMPLE) {
      counted.times++;
      continue;
    }
    const move = { kind: kind.name, id: after.id, event, from, to, at };
    if (counted) counted.times++;
    else scene.moves.set(key, { move, times: 1 });
    if (scene.sample.length < SAMPLE) scene.sample.push(move);
  }
}

const keyOf = ({ workspaceId, livemode }: Scope): string => `${workspaceId} ${livemode}`;

const emptyScene = ({ scope: { workspaceId, livemode }, sight }: Viewer): Scene => ({
  scope: { workspaceId, livemode },
  sight,
  viewers: new Set(),
  moves: new Map(),
  sample: [],
  changed: new Set(),
  countsShown: '',
  silence: 0,
});
