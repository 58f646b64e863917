import type { Database } from '../platform/db/database.ts';
import type { Explanation } from './explanation.ts';
import type { MachineOf } from './machine/definitions.ts';
import type { ActorHistory } from './store/actors.ts';

/** The texts that distinguish the actors of a kind in a list: SQL over a row `a` of its table. */
export interface LabelSql {
  /** One text: the domain of a recipient, the name of a key. */
  readonly title: string;
  /**
   * A text[]: the other facts that matter beside state and times, a few words each; null members are left
   * out.
   */
  readonly facts: string;
}

/** The machines of a kind whose actors run definitions. */
export interface OwnDefinitions {
  machineOf(database: Database): MachineOf;
  /** SQL over a row `a` of its table: the actors of the definition $1, by an index. */
  readonly where: string;
}

/** Explains the state of an actor of one kind from its history. */
export type Explain = (life: ActorHistory, now: number) => Explanation;
