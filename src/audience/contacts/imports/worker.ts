import { eq } from 'drizzle-orm';
import type { ContactImportContext, RowsRead } from '../../../../machines/contact-import/context.ts';
import type { Order } from '../../../engine/machine/draft.ts';
import type { ActorEvent } from '../../../engine/machine/kind.ts';
import type { Performer, TellActor } from '../../../engine/runtime/performers.ts';
import { untilNextTurn } from '../../../platform/async/batcher.ts';
import type { Signer } from '../../../platform/crypto/signer.ts';
import { type Database, PREPARED } from '../../../platform/db/database.ts';
import { contactImports } from '../../../platform/db/schema/imports.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import { FileLost, RowSource, type TakenRows } from './file/row-source.ts';
import { readRows } from './file/rows.ts';
import { readPiece } from './file/stored-file.ts';
import type { WorkedRows } from './kind.ts';
import { joinableAudiences } from './plan/audience-names.ts';
import type { ImportPlan } from './plan/plan.ts';
import { previewOf } from './plan/preview.ts';
import type { ImportSettings } from './plan/stored-plan.ts';
import { planOf } from './plan/stored-plan.ts';

export interface WorkerDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly signer: Signer;
}

/** Imports that wait in memory for their turn; those beyond it are found by the clock again. */
const BACKLOG = 1_000;
/** The time that an import works before others have their turn. */
const TURN_MS = 3_000;
/**
 * A statement of so many parts costs some milliseconds by itself: with fewer rows an import would hardly get
 * on.
 */
const FEWEST_ROWS = 500;
const MOST_ROWS = 2_000;
/**
 * The most time of a commit: other changes of its rows wait for it, and the embedded database answers no
 * other request meanwhile.
 */
const COMMIT_MS = { postgres: 200, embedded: 100 } as const;

interface SettingsRow extends Readonly<Pick<typeof contactImports.$inferSelect, 'merges' | 'audienceId'>> {
  readonly settings: ImportSettings;
}

/**
 * Works through the files of imports, one at a time and in turns. Rows are read while those before them are
 * committed. The progress of an import is in its commits, so another instance continues after the last of
 * them when a turn dies.
 */
export function importWorker(deps: WorkerDeps): Performer {
  let isStopping = false;
  return {
    slots: 1,
    backlog: BACKLOG,
    perform: (order, tell) => new Turn(deps, order, tell, () => isStopping).run(),
    stop: () => {
      isStopping = true;
    },
  };
}

/** An import, with its plan as this version reads it. */
type OpenImport = SettingsRow & { readonly plan: ImportPlan };

interface PreparedRows {
  readonly taken: TakenRows;
  readonly rows: WorkedRows;
}

type Pass = Pick<ContactImportContext, 'place'> & { readonly state: string };

/** One turn of one import. */
class Turn {
  readonly #attempt: number;
  #audiences: ReadonlyMap<string, string> = new Map();
  #most = FEWEST_ROWS;

  constructor(
    private readonly deps: WorkerDeps,
    private readonly order: Order,
    private readonly tell: TellActor,
    private readonly isStopping: () => boolean,
  ) {
    this.#attempt = (order.effect.params as { readonly attempt: number }).attempt;
  }

  async run(): Promise<readonly ActorEvent[]> {
    const { clock, database } = this.deps;
    const begun = clock.monotonic();
    const row = await this.#stored();
    if (row?.plan.targets.some((target) => target?.to === 'audiences'))
      this.#audiences = await joinableAudiences(database, this.order.actor);
    let pass = row ? await this.#told({ type: 'turn.begun' }) : null;
    while (row && pass) {
      const source = this.#sourceOf(row, pass);
      const next = await this.#pass(row, pass, source, begun).catch((error: unknown) => {
        if (error instanceof FileLost) return 'lost' as const;
        throw error;
      });
      if (next === 'lost') return [this.#event({ type: 'file.lost' })];
      if (next === 'over') {
        // A turn leaves short texts behind by the million. Collecting them here takes 40 ms and leaves 110 MB
        // above idle instead of 160.
        Bun.gc(true);
        return [this.#event({ type: 'turn.ended' })];
      }
      pass = next;
    }
    return [];
  }

  async #stored(): Promise<OpenImport | null> {
    const { settings, merges, audienceId } = contactImports;
    const [row] = await this.deps.database.read(
      (orm) =>
        orm
          .select({ settings, merges, audienceId })
          .from(contactImports)
          .where(eq(contactImports.id, this.order.actor.id)),
      PREPARED,
    );
    if (!row) return null;
    const stored = row.settings as ImportSettings;
    return { ...row, settings: stored, plan: planOf(stored.plan) };
  }

  /**
   * Works through the rest of a pass. Null where the import has ended, or continues elsewhere; `over` at the
   * end of the turn.
   */
  async #pass(
    row: OpenImport,
    { state, place }: Pass,
    source: RowSource,
    begun: number,
  ): Promise<Pass | null | 'over'> {
    const { clock } = this.deps;
    let from = place.offset;
    let prepared = await this.#prepared(row, state, source);
    for (;;) {
      const { taken, rows } = prepared;
      const committing = clock.monotonic();
      const told = this.#told({
        type: 'rows.read',
        from,
        to: taken.to,
        isLast: taken.isLast,
        refused: rows.refused,
        rows,
      });
      // An error while the next rows are prepared must not leave the commit without a handler.
      const [committed, next] = await Promise.allSettled([
        told.finally(() => this.#adapt(clock.monotonic() - committing)),
        taken.isLast ? null : this.#preparedNext(row, state, source),
      ]);
      if (committed.status === 'rejected') throw committed.reason;
      const after = committed.value;
      if (!after || taken.isLast) return after;
      // A turn cannot continue inside a long line: if it ended there, it would begin the line again for ever.
      const isDue = clock.monotonic() - begun > TURN_MS && taken.to.offset > from;
      if (this.isStopping() || isDue) return 'over';
      if (next.status === 'rejected') throw next.reason;
      if (!next.value) return after;
      from = taken.to.offset;
      prepared = next.value;
    }
  }

  /**
   * Prepares the next rows once the statement with those before them has left: PostgreSQL and this process
   * then work at once.
   */
  async #preparedNext(row: OpenImport, state: string, source: RowSource): Promise<PreparedRows> {
    for (let turn = 0; turn < 3; turn++) await untilNextTurn();
    return this.#prepared(row, state, source);
  }

  async #prepared(
    { plan, settings, merges, audienceId }: OpenImport,
    state: string,
    source: RowSource,
  ): Promise<PreparedRows> {
    const { signer, clock } = this.deps;
    const { workspaceId, livemode } = this.order.actor;
    const taken = await source.take(this.#most);
    const isWritten = state === 'processing';
    const batch = await readRows(taken.rows, {
      plan,
      signer,
      workspaceId,
      hashes: livemode && isWritten,
      merges,
      audienceId: audienceId,
      audienceOf: (name) => this.#audiences.get(name),
      now: clock.now(),
    });
    const rows = isWritten
      ? { ...batch, preview: null, isWritten }
      : await previewOf(this.deps, this.order.actor, batch, { dryRun: settings.dryRun, merges });
    return { taken, rows };
  }

  #sourceOf({ plan, settings: { bytes } }: OpenImport, { place }: Pass): RowSource {
    const { database } = this.deps;
    const piece = (n: number) => readPiece(database, this.order.actor.id, n);
    return new RowSource({ plan, bytes, piece }, place);
  }

  #event<Rest extends { readonly type: string }>(rest: Rest) {
    return { ...rest, at: this.deps.clock.now(), attempt: this.#attempt };
  }

  /**
   * Sends an event to the import, and returns its state after it; null where it accepts nothing from this
   * turn any more.
   */
  async #told(
    rest: { readonly type: 'turn.begun' } | Omit<RowsRead, 'at' | 'attempt'>,
  ): Promise<Pass | null> {
    const result = await this.tell(this.#event(rest));
    if (result.outcome !== 'changed' || !UNDER_WAY.has(result.state)) return null;
    return { state: result.state, place: (result.context as ContactImportContext).place };
  }

  /** Takes more rows where commits are quick, and fewer where they are slow. */
  #adapt(ms: number): void {
    const factor = Math.min(2, Math.max(0.5, COMMIT_MS[this.deps.database.kind] / Math.max(1, ms)));
    this.#most = Math.round(Math.min(MOST_ROWS, Math.max(FEWEST_ROWS, this.#most * factor)));
  }
}

const UNDER_WAY: ReadonlySet<string> = new Set(['checking', 'processing']);
