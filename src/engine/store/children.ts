import { Decider } from '../machine/decide.ts';
import type { Draft } from '../machine/draft.ts';
import type { Actor, ChildSpec, Kind } from '../machine/kind.ts';
import { handedOver, type Share } from '../machine/share.ts';
import type { LocalLeases, PendingLeases } from './local-leases.ts';
import type { Template } from './statements/statement-parts.ts';
import { storeOf } from './store-of.ts';

/** A child as a statement answers it; `child` is the place of its kind in the list of specs. */
export interface ChildRow {
  readonly child: number;
  readonly id: string;
  readonly workspace_id: string;
  readonly livemode: boolean;
  readonly brought: string | null;
}

type InputRow = Readonly<Record<string, unknown>>;

/** The first state of the children of one commit: one template a kind, however many actors there will be. */
export interface Templates {
  /**
   * For a statement over these rows of the input: what writes the JSON of the machine columns that all
   * children of a kind share, in the order of the specs. Only of a kind that the statement makes is it
   * called, since an instance then keeps what is made.
   */
  rowsFor(inputs: readonly InputRow[]): readonly Template[];
  /** A reply was lost: the children are unknown, so those that are kept are left to be looked for. */
  doubt(): void;
  /**
   * The drafts of the children that the commit has answered, by kind. It is asked for once, when the commit
   * has ended.
   */
  instantiate(rows: readonly ChildRow[]): ReadonlyMap<Kind, readonly Draft[]>;
}

/** The questions of children to the engine. */
export interface ChildDeps {
  /** This process's share in a kind. */
  shareOf(kind: Kind): Share;
  /** The children of a kind that this process keeps; null where none are. */
  localLeasesOf(kind: Kind): LocalLeases | null;
}

/** Decides how the children of a kind begin, once a commit. */
export class Children {
  readonly #specs: readonly { readonly spec: ChildSpec; readonly decider: Decider }[];

  constructor(
    specs: readonly ChildSpec[],
    private readonly deps: ChildDeps,
  ) {
    for (const { kind } of specs)
      if (kind.hasDefinitions === true)
        throw new Error(
          `${kind.name} has definitions: its actors do not begin alike, so they cannot be children.`,
        );
    this.#specs = specs.map((spec) => ({ spec, decider: new Decider(spec.kind.machine) }));
  }

  templates(at: number): Templates {
    const models = this.#specs.map(({ spec: { kind, input }, decider }) => {
      const { snapshot, timers, effects, step } = decider.begin(input(at), at);
      const inserted: Actor = { id: '', workspaceId: '', livemode: false, snapshot, timers, revision: 1 };
      const model = handedOver(kind, this.deps.shareOf(kind), inserted, effects, at);
      return { kind, draft: { before: null, after: model, steps: [step], effects, outbox: [], claim: null } };
    });
    const keeping = this.#specs.map(({ spec }) => new KeptChildren(spec, this.deps));
    return {
      rowsFor: (inputs) =>
        models.map(({ kind, draft }, place) => () => {
          const row = storeOf(kind).inputRow(draft);
          return JSON.stringify({
            ...row,
            machine_version: kind.version,
            kept_by: keeping[place]?.termFor(inputs),
          });
        }),
      doubt() {
        for (const one of keeping) one.doubt();
      },
      instantiate(rows) {
        for (const [place, one] of keeping.entries())
          one.ended(rows.flatMap(({ child, id }) => (child === place ? id : [])));
        const drafts = new Map<Kind, Draft[]>();
        for (const { child, id, workspace_id: workspaceId, livemode, brought } of rows) {
          const { kind, draft } = models[child] as (typeof models)[number];
          const made = drafts.get(kind) ?? [];
          made.push({
            ...draft,
            after: { ...draft.after, id, workspaceId, livemode },
            payload: brought ?? undefined,
          });
          drafts.set(kind, made);
        }
        return drafts;
      },
    };
  }
}

/**
 * The children of a kind that are made by one commit, as far as they are kept: each try of its statement may
 * name another term.
 */
class KeptChildren {
  readonly #kept: LocalLeases | null;
  readonly #makings: PendingLeases[] = [];

  constructor(
    private readonly spec: ChildSpec,
    deps: ChildDeps,
  ) {
    const isKept = spec.performedAtOnce && spec.kind.keepsChildren === true && spec.lowestId !== undefined;
    this.#kept = isKept ? deps.localLeasesOf(spec.kind) : null;
  }

  /** The term that keeps what a statement over these rows makes; undefined where the clock has to. */
  termFor(inputs: readonly InputRow[]): number | undefined {
    if (!this.#kept) return undefined;
    const lowest = this.#lowestId(inputs);
    const making = lowest === null ? null : this.#kept.begun(lowest);
    if (making) this.#makings.push(making);
    return making?.term;
  }

  doubt(): void {
    if (this.#makings.length > 0) this.#kept?.doubt();
  }

  /** Every try of the statement has ended; these were made. */
  ended(ids: readonly string[]): void {
    for (const [index, making] of this.#makings.entries())
      this.#kept?.ended(making, index === this.#makings.length - 1 ? ids : []);
  }

  #lowestId(inputs: readonly InputRow[]): string | null {
    const { fact, lowestId } = this.spec;
    let lowest: string | null = null;
    for (const input of inputs)
      for (const row of (input[fact] ?? []) as readonly InputRow[]) {
        const id = lowestId?.(row) as string;
        if (lowest === null || id < lowest) lowest = id;
      }
    return lowest;
  }
}
