import { and, eq } from 'drizzle-orm';
import type { ContactImportContext } from '../../../../machines/contact-import/context.ts';
import type { ContactImportState } from '../../../../machines/contact-import/machine.ts';
import type { Engine } from '../../../engine/engine.ts';
import { claimOnce, idempotently, keyedBy } from '../../../http/request/idempotent.ts';
import type { Call, Replay, UploadCall } from '../../../http/request/route.ts';
import type { Database } from '../../../platform/db/database.ts';
import { audiences } from '../../../platform/db/schema/audiences.ts';
import { keepReply, type StoredReply } from '../../../platform/db/stored-replies.ts';
import { Failure, invalidAt, notFound } from '../../../platform/errors/failure.ts';
import { UnavailableError } from '../../../platform/errors/unavailable.ts';
import type { Scope } from '../lists/contact-rows.ts';
import { type StoredFile, storeFile } from './file/stored-file.ts';
import type { ImportQuery, ImportView, StartedImport } from './model.ts';
import { joinableAudiences } from './plan/audience-names.ts';
import type { ImportPlan } from './plan/plan.ts';
import { type ImportSettings, storedPlan } from './plan/stored-plan.ts';
import { findImport, findImportRow, statusOf, viewOf } from './queries.ts';

/** The services that starting and ending imports calls. */
export interface ImportCommands {
  readonly database: Database;
  readonly engine: Engine;
}

/** A turn that tells nothing for so long has died. Its chunks are commits of a tenth of a second. */
export const LEASE_MS = 5_000;

/** Imports of one environment that may wait or be under way at once: each keeps its file until it ends. */
export const MOST_OPEN = 20;

/** The HTTP status of a started import. */
const ACCEPTED = 202;

const FULL = new Failure('CONFLICT', `At most ${MOST_OPEN} imports may wait or be under way at once.`, {
  suggestion: 'Wait until one of them has ended, or cancel one.',
});
const NO_IMPORT = notFound('contact import');
const ENDED = new Failure('CONFLICT', 'This import has ended.');

const CONFIRMS = 'This audience asks people to confirm, which a file cannot do for them.';
const DYNAMIC = 'This audience is dynamic: whom its filter matches is in it.';

/** The refusal of an audience that takes no imported contacts; null when it takes them. */
async function refuseAudience(
  database: Database,
  { caller, query }: StartImportCall,
): Promise<Failure | null> {
  if (query.audienceId === undefined) return null;
  const { audienceId } = query;
  const [audience] = await database.read((orm) =>
    orm
      .select({ type: audiences.type, confirm: audiences.confirm })
      .from(audiences)
      .where(
        and(
          eq(audiences.workspaceId, caller.workspaceId),
          eq(audiences.livemode, caller.livemode),
          eq(audiences.id, audienceId),
        ),
      ),
  );
  if (!audience) return notFound('audience');
  const problem = audience.type === 'dynamic' ? DYNAMIC : audience.confirm ? CONFIRMS : null;
  return problem === null ? null : invalidAt('/query/audienceId', problem);
}

/** Stores the file of an import to be. @throws UnavailableError, BrokenBody */
export const receiveFile = (
  { database }: ImportCommands,
  pieces: AsyncIterable<Uint8Array>,
  { caller, query: { columns, filename }, now }: UploadCall<ImportQuery>,
): Promise<StoredFile | Failure> => storeFile(pieces, { database, now, scope: caller, columns, filename });

type StartImportCall = Call<unknown, ImportQuery, StoredFile>;

/**
 * Starts an import. Its file is stored already, so that what is answered can be carried out by any instance.
 */
export function startImport(
  { database, engine }: ImportCommands,
  call: StartImportCall,
): Promise<StartedImport | Failure | Replay> {
  const { caller, body: file, query, now } = call;
  const { workspaceId, livemode } = caller;
  const { onConflict, onError, dryRun, triggerFlows, audienceId = null } = query;
  const run = async () => {
    const refused = await refuseAudience(database, call);
    if (refused) return refused;
    const plan = await withAudienceWarning(database, caller, file);
    const settings: ImportSettings = {
      plan: storedPlan(plan),
      bytes: file.bytes,
      onConflict,
      onError,
      dryRun,
    };
    const { warnings = [] } = plan;
    const started = (state: ContactImportState): StartedImport => ({
      id: file.id,
      status: statusOf(state),
      ...(warnings.length > 0 && { warnings: [...warnings] }),
    });
    const spawn = {
      id: file.id,
      workspaceId,
      livemode,
      input: { at: now, leaseMs: LEASE_MS, checksFirst: onError === 'abort', dryRun, first: file.first },
      columns: {
        settings,
        merges: onConflict === 'upsert',
        audience_id: audienceId,
        trigger_flows: triggerFlows,
        most_open: MOST_OPEN,
      },
      claim: claimOnce(keyedBy(call), ACCEPTED, (state: ContactImportState) =>
        JSON.stringify(started(state)),
      ),
      bytes: 4_096,
    };
    const spawned = await engine.spawn('contactImport', spawn).catch((error: unknown) => {
      // The import may be there, and reads the file.
      if (error instanceof UnavailableError && error.applied === 'unknown') file.keep();
      throw error;
    });
    if (spawned.outcome === 'overQuota') throw new Error('An import takes no units.');
    if (spawned.outcome === 'withheld') return FULL;
    if (spawned.outcome === 'replayed') return spawned;
    file.keep();
    return started(spawned.state);
  };
  return idempotently(database, keyedBy(call), { run });
}

/**
 * The plan, with a warning where the file names audiences that no contact can join by it. @throws
 * UnavailableError
 */
async function withAudienceWarning(database: Database, scope: Scope, file: StoredFile): Promise<ImportPlan> {
  const { plan, audiences } = file;
  if (audiences.length === 0) return plan;
  const joinable = await joinableAudiences(database, scope);
  const missing = audiences.filter((name) => !joinable.has(name));
  if (missing.length === 0) return plan;
  const column = plan.targets.findIndex((target) => target?.to === 'audiences');
  const message = `No static audience without confirmation has the name ${missing
    .slice(0, 5)
    .map((name) => `"${name}"`)
    .join(', ')}. Create it before the import; otherwise these contacts are not added to it.`;
  const warning = { column: column + 1, header: plan.headers[column] ?? null, message };
  return { ...plan, warnings: [...(plan.warnings ?? []), warning] };
}

type ImportCall = Call<{ readonly id: string }>;

/** Ends an import. What it has written stays. Ending a cancelled one again changes nothing. */
export const cancelImport = (
  commands: ImportCommands,
  call: ImportCall,
): Promise<ImportView | Failure | Replay> =>
  idempotently(commands.database, keyedBy(call), { run: () => cancel(commands, call), lookFirst: true });

async function cancel(
  { database, engine }: ImportCommands,
  call: ImportCall,
): Promise<ImportView | Failure | StoredReply> {
  const { caller, params, now } = call;
  const { workspaceId, livemode } = caller;
  const row = await findImportRow(database, caller, params.id);
  if (!row) return NO_IMPORT;
  const claim = claimOnce(keyedBy(call), 200, (state: ContactImportState, context: ContactImportContext) =>
    JSON.stringify(viewOf({ ...row, state, context })),
  );
  const result = await engine.tell(
    'contactImport',
    params.id,
    { type: 'cancel.requested', at: now },
    { scope: { workspaceId, livemode }, ...(claim && { claim }) },
  );
  if (result.outcome === 'replayed') return result;
  if (result.outcome === 'refused' && result.state !== 'cancelled') return ENDED;
  // Rows were written until the commit, so that the counts are those of now.
  const view = await findImport(database, caller, params.id);
  if (view) await keepReply(database, keyedBy(call), 200, view);
  return view ?? NO_IMPORT;
}
