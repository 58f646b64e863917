import { Decider } from './decide.ts';
import { type Draft, inputRow } from './draft.ts';
import { handedOver, type Share } from './handing-over.ts';
import type { Actor, ChildSpec, Kind } from './kind.ts';

/** A child as a statement answers it; `child` is the place of its kind in the list of specs. */
export interface ChildRow {
  readonly child: number;
  readonly id: string;
  readonly workspace_id: string;
  readonly livemode: boolean;
  readonly brought: string | null;
}

/** How the children of one commit begin: one template a kind, however many actors there will be. */
export interface Templates {
  /** JSON of the machine columns that all children of a kind share, in the order of the specs. */
  readonly rows: readonly string[];
  /** The drafts of the children that the commit has answered, by kind. */
  instantiate(rows: readonly ChildRow[]): ReadonlyMap<Kind, readonly Draft[]>;
}

/** Decides how the children of a kind begin, once a commit. */
export class Children {
  readonly #specs: readonly { readonly spec: ChildSpec; readonly decider: Decider }[];

  constructor(
    specs: readonly ChildSpec[],
    private readonly shareOf: (kind: Kind) => Share,
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
      const born: Actor = { id: '', workspaceId: '', livemode: false, snapshot, timers, revision: 1 };
      const model = handedOver(kind, this.shareOf(kind), born, effects, at);
      return { kind, draft: { before: null, after: model, steps: [step], effects, outbox: [], claim: null } };
    });
    return {
      rows: models.map(({ kind, draft }) =>
        JSON.stringify({ ...inputRow(kind, draft), machine_version: kind.version }),
      ),
      instantiate(rows) {
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
