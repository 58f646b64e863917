import type { Engine } from '../../src/engine/engine.ts';
import { auditLedger } from '../../src/ops/audit/audit.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { ManualClock, rowsOf } from './engine.ts';
import { eventually } from './eventually.ts';

/** The moment at which held actors are inserted, unless a test moves its clock. */
export const KEPT_AT = Date.parse('2026-11-20T12:00:00.000Z');

/** An actor that an instance may keep, as its row says. */
export interface KeptCondition {
  readonly id: string;
  readonly state: string;
  readonly revision: number;
  readonly isDue: boolean;
  readonly kept_by: number | null;
  readonly attempt: number;
}

const COLUMNS = `id, state, revision, wake_at is not null as "isDue", kept_by, (context->>'attempt')::integer as attempt`;

/** Makes an instance's database unreachable, as if it were frozen or dead: `own.before = away`. */
export const away = (): never => {
  throw new UnavailableError('The instance is frozen.');
};

/** The parts of a scene. */
interface Subject {
  /** The table or view of the actors that are kept. */
  readonly relation: string;
  /** Everything that a scene fills. */
  readonly tables: readonly string[];
  /** Which findings of an audit are about it. */
  isOurs(finding: { readonly check: string; readonly id: string }): boolean;
}

/** Instances over one database, each of which can be cut off from it. */
export class KeptScene implements AsyncDisposable {
  readonly clock = new ManualClock(KEPT_AT);
  readonly #engines: Engine[] = [];

  constructor(
    readonly database: Database,
    private readonly subject: Subject,
  ) {}

  /** Starts an engine, which stops with the scene. */
  protected start(engine: Engine): void {
    engine.start();
    this.#engines.push(engine);
  }

  condition(id: string): Promise<KeptCondition> {
    return this.conditionWhere('id = $1', id);
  }

  /** That of the one for which the SQL holds; `$1` is the value. */
  async conditionWhere(holds: string, value: string): Promise<KeptCondition> {
    const statement = `select ${COLUMNS} from ${this.subject.relation} where ${holds}`;
    const [row] = await rowsOf<KeptCondition>(this.database, statement, [value]);
    if (!row) throw new Error(`Nothing of which ${holds}, $1 being ${value}.`);
    return row;
  }

  leftToClock(id: string): Promise<KeptCondition> {
    return eventually(`${id} is left to the clock`, async () => {
      const condition = await this.condition(id);
      return condition.isDue ? condition : undefined;
    });
  }

  async faults(): Promise<readonly string[]> {
    const session = {
      query: <Row extends object>(text: string, parameters?: readonly never[]) =>
        this.database.query<Row>(text, parameters),
      close: async () => {},
    };
    const findings = await auditLedger(session as never, this.clock.time);
    return findings.named.flatMap(({ check, id, what }) =>
      this.subject.isOurs({ check, id }) ? [`${check}: ${id} ${what}`] : [],
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#engines.map((engine) => engine.stop()));
    await this.database.script(`truncate ${this.subject.tables.join(', ')}`);
  }
}
