import type { AnyStateMachine } from 'xstate';
import { LruMap } from '../../platform/async/lru-map.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import { Decider } from './decide.ts';
import type { Kind } from './kind.ts';

/** The machine of a definition, which never changes; null where there is none. @throws UnavailableError */
export type MachineOf = (definitionId: string) => Promise<AnyStateMachine | null>;

/** The deciders of the actors of one batch. */
export interface Deciders {
  /**
   * The decider of the kind's machine when an actor names no definition. @throws UnavailableError when the
   * definition could not be loaded
   */
  of(definitionId: string | null | undefined): Decider;
}

/** Definitions kept compiled; one takes some 50 kB. */
const KEPT = 200;

/**
 * The machines that actors of a kind run: the kind's machine, and for a kind with definitions one for each of
 * them. A decision is synchronous, so a batch loads its definitions before it: it keeps those it has loaded,
 * even if the cache drops them meanwhile.
 */
export class Definitions {
  readonly #own: Decider;
  readonly #ownOnly: Deciders;
  readonly #kept: LruMap<string, Decider>;
  readonly #loading = new Map<string, Promise<Decider>>();

  /** @throws UnsupportedMachine */
  constructor(
    private readonly kind: Kind,
    private readonly machineOf: MachineOf | undefined,
    most = KEPT,
  ) {
    this.#kept = new LruMap({ entries: most });
    if ((kind.hasDefinitions === true) !== (machineOf !== undefined))
      throw new Error(`${kind.name} needs both, hasDefinitions and machineOf, or neither.`);
    this.#own = new Decider(kind.machine);
    this.#ownOnly = { of: (id) => (id === null || id === undefined ? this.#own : this.#keptOf(id)) };
  }

  /**
   * Loads what actors of these definitions need. One that cannot be loaded fails its own actors, and no
   * others.
   */
  load(ids: Iterable<string | null | undefined>): Deciders | Promise<Deciders> {
    const wanted = new Set<string>();
    for (const id of ids) if (id !== null && id !== undefined) wanted.add(id);
    return wanted.size === 0 ? this.#ownOnly : this.#loadAll(wanted);
  }

  async #loadAll(wanted: ReadonlySet<string>): Promise<Deciders> {
    const loaded = new Map<string, Decider | UnavailableError>();
    await Promise.all(
      [...wanted].map(async (id) =>
        loaded.set(id, await this.#load(id).catch((error: unknown) => this.#unavailable(id, error))),
      ),
    );
    return {
      of: (id) => {
        const found = id === null || id === undefined ? this.#own : (loaded.get(id) ?? this.#keptOf(id));
        if (found instanceof UnavailableError) throw found;
        return found;
      },
    };
  }

  /** For an actor that was made while the batch was being read: its maker has just loaded its definition. */
  #keptOf(id: string): Decider {
    const kept = this.#kept.get(id);
    if (!kept) throw new UnavailableError(`The definition "${id}" of ${this.kind.name} is not loaded yet.`);
    return kept;
  }

  async #load(id: string): Promise<Decider> {
    const kept = this.#kept.get(id);
    if (kept) return kept;
    const loading = this.#loading.get(id) ?? this.#compiled(id).finally(() => this.#loading.delete(id));
    this.#loading.set(id, loading);
    return loading;
  }

  async #compiled(id: string): Promise<Decider> {
    const machine = await this.machineOf?.(id);
    if (!machine) throw new UnavailableError(`There is no definition "${id}" of ${this.kind.name}.`);
    const decider = new Decider(machine);
    this.#kept.set(id, decider);
    return decider;
  }

  /**
   * The reason that keeps a definition away may pass: a newer instance can run it, or it is put back. Its
   * actors stay as they are.
   */
  #unavailable(id: string, error: unknown): UnavailableError {
    if (error instanceof UnavailableError) return error;
    const why = error instanceof Error ? error.message : String(error);
    return new UnavailableError(
      `The definition "${id}" of ${this.kind.name} cannot be run: ${why}`,
      'no',
      1,
      {
        cause: error,
      },
    );
  }
}
