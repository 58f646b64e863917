import { RequestError } from '../api/requests.ts';
import type { Draft } from './draft.ts';
import { changedIn, keptList, merge, pick, sumOf, textOf, type Values } from './merge.ts';

/** A resource with the time of its last change. */
export interface TimestampedResource {
  readonly updatedAt: string;
}

/** The way in which a resource is edited. */
export interface EditPlan<Resource extends TimestampedResource, V extends Values> {
  /** Its edited members. */
  readonly read: (resource: Resource) => V;
  /** Saves what was changed, unless the resource was changed since that moment. */
  readonly write: (changed: Partial<V>, ifUpdatedAt: string, values: V, base: V) => Promise<Resource>;
  /** Reads it again. */
  readonly reread: () => Promise<Resource>;
}

/** A change that another person has made while this one was typed. */
export interface ConcurrentChange {
  /** Members that only they have changed: they are taken over. */
  readonly taken: readonly string[];
  /** Members that both have changed: they wait for a choice. */
  readonly conflicts: readonly string[];
}

/** All that is shown of an edit. */
export interface EditState<V extends Values> {
  readonly values: V;
  /** The stored values, as far as this page knows them. */
  readonly base: V;
  readonly updatedAt: string;
  readonly changed: readonly (keyof V & string)[];
  readonly conflicts: readonly (keyof V & string)[];
  /** True where something would be lost: it is changed, and stored nowhere. */
  readonly isUnsaved: boolean;
  readonly isSaving: boolean;
  readonly savedAt: number | null;
  readonly refused: RequestError | null;
  /**
   * Changes when values come from elsewhere than the keyboard: editors that hold their own text begin again.
   */
  readonly round: number;
  readonly meanwhile: ConcurrentChange | null;
  /** A draft of an earlier visit that was neither saved nor discarded. */
  readonly offered: Draft | null;
  /** True when the two versions are to be shown beside each other. */
  readonly isComparing: boolean;
}

/** All of it but the values, which change with each key. */
export type EditNotes<V extends Values> = Omit<EditState<V>, 'values'>;

const notesOf = <V extends Values>({ values: _, ...notes }: EditState<V>): EditNotes<V> => notes;

/** A save is tried again when another person was faster and nothing contradicts, so often. */
const MOST_TRIES = 5;

/**
 * One resource while it is edited. Values are what is on the screen; nothing that was typed is ever replaced
 * by what comes from elsewhere.
 */
export class Edit<Resource extends TimestampedResource, V extends Values> {
  #state: EditState<V>;
  #notes: EditNotes<V>;
  #resource: Resource;
  #incoming: Resource | null = null;
  #saving: Promise<Resource | null> | null = null;
  /** Values stored beside the resource, such as a version that is not published. */
  #aside: V | null = null;
  readonly #listeners = new Set<() => void>();
  /** The sums of the base: reading a long source again for each draft is work between two keys. */
  #sums: { readonly base: V; readonly known: Map<string, string> } | null = null;

  constructor(
    resource: Resource,
    public plan: EditPlan<Resource, V>,
  ) {
    const base = plan.read(resource);
    this.#resource = resource;
    this.#state = {
      values: base,
      base,
      updatedAt: resource.updatedAt,
      changed: [],
      conflicts: [],
      isUnsaved: false,
      isSaving: false,
      savedAt: null,
      refused: null,
      round: 0,
      meanwhile: null,
      offered: null,
      isComparing: false,
    };
    this.#notes = notesOf(this.#state);
  }

  readonly state = (): EditState<V> => this.#state;
  readonly values = (): V => this.#state.values;
  /** The same object while only values change: a page that shows it is not rendered for each key. */
  readonly notes = (): EditNotes<V> => this.#notes;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  #change(part: Partial<EditState<V>>): void {
    const next = { ...this.#state, ...part };
    const changed =
      part.values || part.base ? keptList(next.changed, changedIn(next.base, next.values)) : next.changed;
    const conflicts = keptList(
      next.conflicts,
      next.conflicts.filter((name) => changed.includes(name)),
    );
    const isAside = this.#aside !== null && changedIn(this.#aside, next.values).length === 0;
    this.#state = { ...next, changed, conflicts, isUnsaved: changed.length > 0 && !isAside };
    const notes = notesOf(this.#state);
    const isNews = Object.entries(notes).some(
      ([name, note]) => note !== this.#notes[name as keyof typeof notes],
    );
    if (isNews) this.#notes = notes;
    for (const listener of this.#listeners) listener();
  }

  /** Types. */
  readonly set = (part: Partial<V>): void => this.#change({ values: { ...this.#state.values, ...part } });

  /** Values from elsewhere than the keyboard, such as an undo. */
  readonly replace = (part: Partial<V>): void =>
    this.#change({ values: { ...this.#state.values, ...part }, round: this.#state.round + 1 });

  /**
   * Hears of the resource as it is now. What is older than what is known, or comes while something is being
   * saved, changes nothing.
   */
  absorb(resource: Resource): void {
    if (this.#saving) this.#incoming = resource;
    else if (resource.updatedAt > this.#state.updatedAt) this.#merge(resource);
  }

  #merge(resource: Resource): void {
    const { values, base, changed, round, conflicts } = this.#state;
    const theirs = this.plan.read(resource);
    const merged = merge(values, theirs, changed, (name) => textOf(base[name]) !== textOf(theirs[name]));
    this.#resource = resource;
    const { taken } = merged;
    const isNews = changed.length > 0 && (taken.length > 0 || merged.conflicts.length > 0);
    this.#change({
      values: merged.values,
      base: theirs,
      updatedAt: resource.updatedAt,
      // An earlier conflict stays one until it is resolved.
      conflicts: [...new Set([...conflicts, ...merged.conflicts])],
      ...(taken.length > 0 && { round: round + 1 }),
      ...(isNews && { meanwhile: { taken, conflicts: merged.conflicts } }),
    });
  }

  /**
   * Saves what was changed. The answer is the resource that is stored then; null when it was refused, or is
   * to be compared first.
   */
  readonly save = (): Promise<Resource | null> => this.#once(null);

  /** Stores all that is on the screen beside the resource, which stays as it is. */
  readonly saveAside = (write: EditPlan<Resource, V>['write']): Promise<Resource | null> => this.#once(write);

  #once(aside: EditPlan<Resource, V>['write'] | null): Promise<Resource | null> {
    this.#saving ??= this.#save(aside).finally(() => {
      this.#saving = null;
      const incoming = this.#incoming;
      this.#incoming = null;
      if (incoming) this.absorb(incoming);
    });
    return this.#saving;
  }

  async #save(aside: EditPlan<Resource, V>['write'] | null): Promise<Resource | null> {
    try {
      for (let tries = 1; ; tries++) {
        const { values, base, updatedAt, changed, conflicts } = this.#state;
        if (conflicts.length > 0) return this.#compare();
        if (changed.length === 0 && !aside) return this.#resource;
        this.#change({ isSaving: true, refused: null });
        try {
          const saved = await (aside ?? this.plan.write)(pick(values, changed), updatedAt, values, base);
          if (aside) this.#savedAside(saved, values);
          else this.#saved(saved, values);
          return saved;
        } catch (error) {
          if (!(error instanceof RequestError)) throw error;
          if (error.status !== 409 || tries === MOST_TRIES || !(await this.#wasOvertaken())) {
            this.#change({ refused: error });
            return null;
          }
        }
      }
    } finally {
      this.#change({ isSaving: false });
    }
  }

  #compare(): null {
    this.#change({ isComparing: true });
    return null;
  }

  /** True when another person was faster, whose change is taken in then. */
  async #wasOvertaken(): Promise<boolean> {
    const { updatedAt } = this.#state;
    const resource = await this.plan.reread().catch(() => null);
    if (resource === null || resource.updatedAt === updatedAt) return false;
    this.#merge(resource);
    return true;
  }

  #savedAside({ updatedAt }: Resource, values: V): void {
    this.#aside = values;
    this.#change({ updatedAt, meanwhile: null });
  }

  /**
   * The service may write something otherwise than it was sent, such as without blanks around it. What was
   * typed since stays.
   */
  #saved(resource: Resource, sent: V): void {
    const { values, round } = this.#state;
    const base = this.plan.read(resource);
    const isSince = (name: string) => textOf(values[name]) !== textOf(sent[name]);
    const next = Object.fromEntries(
      Object.keys(base).map((name) => [name, isSince(name) ? values[name] : base[name]]),
    ) as V;
    this.#resource = resource;
    const isOtherwise = changedIn(next, values).length > 0;
    this.#change({
      values: next,
      base,
      updatedAt: resource.updatedAt,
      savedAt: Date.now(),
      meanwhile: null,
      ...(isOtherwise && { round: round + 1 }),
    });
  }

  /** Takes for each member that both have changed mine or theirs. */
  readonly resolve = (theirs: readonly string[]): void => {
    const { values, base, round } = this.#state;
    this.#change({
      values: { ...values, ...pick(base, theirs) },
      round: round + 1,
      conflicts: [],
      isComparing: false,
      meanwhile: null,
    });
  };

  readonly compare = (isComparing: boolean): void => this.#change({ isComparing });
  readonly dismiss = (): void => this.#change({ meanwhile: null });

  /** Goes back to what is stored. */
  readonly discard = (): void =>
    this.#change({
      values: this.#state.base,
      round: this.#state.round + 1,
      refused: null,
      meanwhile: null,
      isComparing: false,
    });

  /**
   * The sums of what the changed members were before. A conflict that waits for its choice has none: it is
   * one wherever a draft is taken up.
   */
  sums(): Readonly<Record<string, string>> {
    const { base, changed, conflicts } = this.#state;
    if (this.#sums?.base !== base) this.#sums = { base, known: new Map() };
    const { known } = this.#sums;
    const sum = (name: string): string => {
      const found = known.get(name) ?? sumOf(base[name]);
      known.set(name, found);
      return found;
    };
    return Object.fromEntries(changed.map((name) => [name, conflicts.includes(name) ? '' : sum(name)]));
  }

  /** Offers what was typed before, unless the resource says the same by now. */
  offer(draft: Draft): boolean {
    const { values } = this.#state;
    const names = Object.keys(draft.values).filter((name) => name in values);
    const isWorth = names.some((name) => textOf(draft.values[name]) !== textOf(values[name]));
    if (isWorth) this.#change({ offered: draft });
    return isWorth;
  }

  /** Takes up what was typed before. What was changed elsewhere since is to be compared. */
  readonly restore = (): void => {
    const { offered, values, base, round, conflicts } = this.#state;
    if (!offered) return;
    const names = Object.keys(offered.values).filter((name) => name in values);
    const overtaken = names.filter(
      (name) =>
        sumOf(base[name]) !== offered.sums[name] && textOf(base[name]) !== textOf(offered.values[name]),
    );
    this.#change({
      values: { ...values, ...pick(offered.values as V, names) },
      round: round + 1,
      offered: null,
      conflicts: [...new Set([...conflicts, ...overtaken])],
      ...(overtaken.length > 0 && { meanwhile: { taken: [], conflicts: overtaken } }),
    });
  };

  readonly forgetOffer = (): void => this.#change({ offered: null });
}
