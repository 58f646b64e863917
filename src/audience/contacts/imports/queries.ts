import { and, eq, gt } from 'drizzle-orm';
import type { ContactImportContext } from '../../../../machines/contact-import/context.ts';
import type { ContactImportState } from '../../../../machines/contact-import/machine.ts';
import { decidedFor } from '../../../engine/machine/kind.ts';
import type { Principal } from '../../../http/auth/principal.ts';
import { csvDownload } from '../../../http/lists/csv-download.ts';
import { type IdRange, listById } from '../../../http/lists/list.ts';
import type { Call, Page, RawResponse } from '../../../http/request/route.ts';
import { CSV_MARK, csvRow } from '../../../platform/csv/write.ts';
import { type Database, PREPARED } from '../../../platform/db/database.ts';
import { timeOfId } from '../../../platform/db/ids.ts';
import { contactImportFaults } from '../../../platform/db/schema/imports.ts';
import { type Failure, notFound } from '../../../platform/errors/failure.ts';
import { isoOrNull } from '../../../platform/time/clock.ts';
import { errorOf, type Fault } from './file/faults.ts';
import { FIRST_FAULTS } from './kind.ts';
import type { ImportListQuery, ImportView } from './model.ts';
import type { ImportSettings } from './plan/stored-plan.ts';
import { targetText } from './plan/targets.ts';

/** The services that reading imports calls. */
export interface ImportReader {
  readonly database: Database;
}

type Scope = Pick<Principal, 'workspaceId' | 'livemode'>;

/** The status of each state. */
const STATUS: Readonly<Record<ContactImportState, ImportView['status']>> = {
  queued: 'queued',
  checking: 'processing',
  processing: 'processing',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** The status that clients see. @throws UnavailableError for a state of a newer version */
export const statusOf = (state: string): ImportView['status'] => decidedFor(STATUS, state);

const READ = `select i.id, i.livemode, i.state, i.context, i.settings, i.audience_id, i.trigger_flows,
  t.total, t.created, t.updated, t.skipped, t.failed, t.lowered, t.kept_out, t.added_out, t.first_faults::text as first_faults
from contact_imports i left join contact_import_counts t on t.import_id = i.id
where i.workspace_id = $1 and i.livemode = $2::boolean`;

const ONE = `${READ} and i.id = $3`;
const listSql = ({
  order,
}: IdRange): string => `${READ} and ($3::text is null or i.id < $3) and ($4::text is null or i.id >= $4)
  and ($5::text[] is null or i.state = any ($5)) order by i.id ${order} limit $6::integer`;

/** An import as it is stored. */
export interface ImportRow {
  readonly id: string;
  readonly livemode: boolean;
  readonly state: string;
  readonly context: ContactImportContext;
  readonly settings: ImportSettings;
  readonly audience_id: string | null;
  readonly trigger_flows: boolean;
  readonly total: number | null;
  readonly created: number | null;
  readonly updated: number | null;
  readonly skipped: number | null;
  readonly failed: number | null;
  readonly lowered: number | null;
  readonly kept_out: number | null;
  readonly added_out: number | null;
  readonly first_faults: string | null;
}

/**
 * Reads the row of an import of the caller's environment; null when there is none. @throws UnavailableError
 */
export async function findImportRow(
  database: Database,
  { workspaceId, livemode }: Scope,
  id: string,
): Promise<ImportRow | null> {
  const [row] = await database.query<ImportRow>(ONE, [workspaceId, livemode, id]);
  return row ?? null;
}

/** Reads an import of the caller's environment; null when there is none. @throws UnavailableError */
export async function findImport(database: Database, scope: Scope, id: string): Promise<ImportView | null> {
  const row = await findImportRow(database, scope, id);
  return row && viewOf(row);
}

type ImportQueryCall = Call<{ readonly id: string }>;

/** Reads an import, or answers 404. */
export const importDetail = async (
  { database }: ImportReader,
  { caller, params }: ImportQueryCall,
): Promise<ImportView | Failure> =>
  (await findImport(database, caller, params.id)) ?? notFound('contact import');

/** Lists the imports of the caller's environment. */
export function listImports(
  { database }: ImportReader,
  call: Call<unknown, ImportListQuery>,
): Promise<Page<ImportView> | Failure> {
  const { workspaceId, livemode } = call.caller;
  const { status } = call.query;
  const states = status
    ? Object.entries(STATUS).flatMap(([state, own]) => (own === status ? [state] : []))
    : null;
  return listById(call, {
    list: 'contacts/imports',
    prefix: 'imp',
    rows: (range, limit) =>
      database.query<ImportRow>(listSql(range), [
        workspaceId,
        livemode,
        range.below,
        range.from,
        states,
        limit,
      ]),
    item: viewOf,
  });
}

/** An import as clients see it. */
export function viewOf(row: ImportRow): ImportView {
  const { id, livemode, state, context, settings, audience_id, trigger_flows } = row;
  const { plan, onConflict, onError, dryRun, bytes } = settings;
  const faults = row.first_faults === null ? [] : (JSON.parse(row.first_faults) as Fault[]);
  return {
    id,
    livemode,
    status: statusOf(state),
    failureReason: context.failure,
    counts: countsOf(row),
    consent: consentOf(row),
    warnings: [...(plan.warnings ?? [])],
    errors: faults.slice(0, FIRST_FAULTS).map((fault) => errorOf(fault, plan.headers)),
    progress: progressOf(row),
    onConflict,
    onError,
    dryRun,
    triggerFlows: trigger_flows,
    audienceId: audience_id,
    encoding: plan.encoding,
    delimiter: plan.delimiter,
    columns: plan.headers.map((header, at) => ({ header, target: targetText(plan.targets[at] ?? null) })),
    bytes,
    createdAt: new Date(timeOfId(id)).toISOString(),
    startedAt: isoOrNull(context.startedAt),
    endedAt: isoOrNull(context.endedAt),
  };
}

/** An import that was aborted has written nothing: the rows without a mistake were skipped. */
function countsOf({ state, total, created, updated, skipped, failed }: ImportRow): ImportView['counts'] {
  const all = total ?? 0;
  if (state === 'failed' || state === 'checking')
    return {
      total: all,
      created: 0,
      updated: 0,
      skipped: state === 'failed' ? all - (failed ?? 0) : 0,
      failed: failed ?? 0,
    };
  return {
    total: all,
    created: created ?? 0,
    updated: updated ?? 0,
    skipped: skipped ?? 0,
    failed: failed ?? 0,
  };
}

/** The effect of the statuses in the file; absent where nothing was written. */
function consentOf({ state, lowered, kept_out, added_out }: ImportRow): ImportView['consent'] {
  const isNothing = state === 'failed' || state === 'checking';
  const count = (value: number | null): number => (isNothing ? 0 : (value ?? 0));
  return { lowered: count(lowered), keptOut: count(kept_out), addedOut: count(added_out) };
}

function progressOf({ state, context, settings }: ImportRow): number {
  if (state === 'completed') return 1;
  const share = settings.bytes === 0 ? 0 : Math.min(1, context.place.offset / settings.bytes);
  const hasTwoPasses = context.checksFirst && !context.dryRun;
  if (!hasTwoPasses) return state === 'queued' ? 0 : share;
  return state === 'processing' ? (1 + share) / 2 : state === 'checking' ? share / 2 : share;
}

/** Streams every mistake of an import as CSV: no more than those of one commit are held at a time. */
export async function exportErrors(
  { database }: ImportReader,
  { caller, params }: ImportQueryCall,
): Promise<RawResponse | Failure> {
  const { workspaceId, livemode } = caller;
  const [row] = await database.query<ImportRow>(ONE, [workspaceId, livemode, params.id]);
  if (!row) return notFound('contact import');
  return csvDownload(`${params.id}-errors.csv`, errorLines(database, params.id, row.settings.plan.headers));
}

async function* errorLines(
  database: Database,
  id: string,
  headers: readonly string[],
): AsyncGenerator<string, undefined> {
  yield CSV_MARK + csvRow(['line', 'column', 'code', 'message']);
  const { importId, fromOffset, faults } = contactImportFaults;
  for (let after = -1; ; ) {
    const last = after;
    const [row] = await database.read(
      (orm) =>
        orm
          .select({ fromOffset, faults })
          .from(contactImportFaults)
          .where(and(eq(importId, id), gt(fromOffset, last)))
          .orderBy(fromOffset)
          .limit(1),
      PREPARED,
    );
    if (!row) return;
    after = row.fromOffset;
    yield (row.faults as Fault[])
      .map((fault) => errorOf(fault, headers))
      .map(({ line, column, code, message }) => csvRow([line, column, code, message]))
      .join('');
  }
}
