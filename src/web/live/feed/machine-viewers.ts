import type { Draft } from '../../../engine/machine/draft.ts';
import type { Scope } from '../../../engine/machine/result.ts';
import { FOR_VIEWERS, TransitionBuffer } from '../exchange/gathered.ts';
import type { OtherInstances } from '../exchange/live-exchange.ts';
import type { Counts, ShownInstance, Tick } from '../model.ts';
import type { Visibility } from '../visibility.ts';

/** Ticks without news before an empty one is sent, so that a viewer knows that the connection is alive. */
const BEAT_TICKS = 20;

/** A connection that shows the machines of one environment. */
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

/** The instances, with the text by which a change of them is found. */
export interface InstancesNow {
  readonly instances: readonly ShownInstance[];
  readonly text: string;
}

/** The viewers of one environment who see the same kinds, and the transitions since their last tick. */
export class MachineViewers {
  readonly #viewers = new Set<Viewer>();
  readonly #gathered: TransitionBuffer;
  /** The viewers that recently got no messages, each with the number of missed transitions. */
  readonly #behind = new Map<Viewer, number>();
  /** Stops the news of what other instances commit. */
  readonly #leaveOthers: () => void;
  #countsShown = '';
  #instancesShown = '';
  #completenessShown = '';
  #silence = 0;

  constructor(
    private readonly scope: Scope,
    readonly visibility: Visibility,
    private readonly others: OtherInstances,
  ) {
    this.#gathered = new TransitionBuffer(others.id, FOR_VIEWERS);
    this.#leaveOthers = others.join(scope, ({ instance, news, missed }) =>
      this.#gathered.hear(instance.slice(0, 8), news, missed, (kind) => visibility.has(kind)),
    );
  }

  get size(): number {
    return this.#viewers.size;
  }

  add(viewer: Viewer): void {
    this.#viewers.add(viewer);
    // The new viewer needs the counts; the others receive them once more.
    this.#countsShown = '';
    this.#instancesShown = '';
  }

  /** False when the viewer had left before. The last one ends the news of other instances. */
  remove(viewer: Viewer): boolean {
    if (!this.#viewers.delete(viewer)) return false;
    this.#behind.delete(viewer);
    if (this.#viewers.size === 0) this.#leaveOthers();
    return true;
  }

  note(kind: string, draft: Draft): void {
    if (this.visibility.has(kind)) this.#gathered.note(kind, draft);
  }

  /** Shows what is new: one text for all viewers, however many they are. */
  tick(at: number, counts: Counts, { instances, text: instancesText }: InstancesNow): void {
    const countsText = JSON.stringify(counts);
    const completeness = this.others.completeness(this.scope);
    const isNews =
      countsText !== this.#countsShown ||
      instancesText !== this.#instancesShown ||
      completeness !== this.#completenessShown ||
      this.#behind.size > 0 ||
      !this.#gathered.isEmpty;
    if (!isNews && ++this.#silence < BEAT_TICKS) return;
    const watched = [...this.#viewers].flatMap((viewer) => viewer.watched ?? []);
    const tick: Tick = {
      type: 'tick',
      at,
      completeness,
      ...this.#gathered.take(watched),
      counts: countsText === this.#countsShown ? null : counts,
      instances: instancesText === this.#instancesShown ? null : instances,
    };
    this.#show(tick, { counts, instances });
    this.#countsShown = countsText;
    this.#instancesShown = instancesText;
    this.#completenessShown = completeness;
    this.#silence = 0;
  }

  #show(tick: Tick, state: Pick<Tick, 'counts' | 'instances'>): void {
    const text = JSON.stringify(tick);
    for (const viewer of this.#viewers) {
      const missed = this.#behind.get(viewer);
      if (viewer.isFull) {
        this.#behind.set(viewer, (missed ?? 0) + tick.sample.length + tick.unshown);
        continue;
      }
      this.#behind.delete(viewer);
      // A viewer who missed messages gets the whole state.
      const whole = missed === undefined ? null : { ...tick, ...state, unshown: tick.unshown + missed };
      viewer.show(whole ? JSON.stringify(whole) : text);
    }
  }
}
