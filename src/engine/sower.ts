import { Decider } from './decide.ts';
import type { Actor, Offspring } from './kind.ts';
import { type Draft, inputRow } from './tell-batch.ts';

/** How the actors begin that one commit may bring into being. */
export interface Seed {
  /** JSON of the machine columns that all of them share. */
  readonly row: string;
  /** One of them, as the commit has answered it. */
  sprout(row: {
    readonly id: string;
    readonly workspace_id: string;
    readonly livemode: boolean | null;
  }): Draft;
}

/** Decides how offspring begins: by its machine, once a commit, however many there will be. */
export class Sower {
  readonly #decider: Decider;

  constructor(private readonly offspring: Offspring) {
    this.#decider = new Decider(offspring.kind.machine, offspring.input(0));
  }

  seed(at: number): Seed {
    const { kind, input } = this.offspring;
    const { snapshot, timers, effects, step } = this.#decider.begin(input(at), at);
    const draft = (after: Actor): Draft => ({
      before: null,
      after,
      steps: [step],
      effects,
      mail: [],
      claim: null,
    });
    const model: Actor = { id: '', workspaceId: '', livemode: false, snapshot, timers, revision: 1 };
    return {
      row: JSON.stringify({ ...inputRow(kind, draft(model)), machine_version: kind.version }),
      sprout: ({ id, workspace_id, livemode }) =>
        draft({ ...model, id, workspaceId: workspace_id, livemode: livemode === true }),
    };
  }
}
