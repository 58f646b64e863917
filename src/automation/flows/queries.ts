import type { EndStatus } from '../../../machines/flow-run/context.ts';
import { listById } from '../../http/lists/list.ts';
import { pageOf, positionOf } from '../../http/lists/pagination.ts';
import type { Call, Page } from '../../http/request/route.ts';
import type { Database } from '../../platform/db/database.ts';
import { Failure, notFound } from '../../platform/errors/failure.ts';
import type { FlowQuery, FlowVersionView, FlowView, VersionQuery } from './definition/model.ts';
import { ENTERED, OF_RUNS, readTallies } from './runs/tallies.ts';
import { type FlowWithVersion, findFlow, readFlows, readVersion, readVersions } from './store.ts';
import { flowOf, versionOf } from './views.ts';

/** The services that reading flows calls. */
export interface FlowReader {
  readonly database: Database;
}

type FlowQueryCall = Call<{ readonly id: string }>;

export const NO_FLOW = notFound('flow');

/** Reads the counts of a flow: its runs at one moment, and the outcomes of their steps. */
async function statsOf(database: Database, id: string): Promise<NonNullable<FlowView['stats']>> {
  const counted = await readTallies(database, id);
  const runs = new Map(
    counted.flatMap(({ step, ...one }) => (step === OF_RUNS ? [[one.outcome, one.count]] : [])),
  );
  const count = (name: string) => runs.get(name) ?? 0;
  const [entered, running] = [count(ENTERED), count('running')];
  const ends = endsOf(count);
  const over = Object.values(ends).reduce((sum, one) => sum + one, 0);
  return {
    entered,
    running,
    waiting: entered - over - running,
    ...ends,
    steps: counted.filter(({ step }) => step !== OF_RUNS),
  };
}

const endsOf = (count: (name: EndStatus) => number): Readonly<Record<EndStatus, number>> => ({
  completed: count('completed'),
  exited: count('exited'),
  failed: count('failed'),
  cancelled: count('cancelled'),
});

/** A flow with its counts. */
export const viewOf = async (database: Database, row: FlowWithVersion): Promise<FlowView> =>
  flowOf(row, row.definition, await statsOf(database, row.id));

/** Reads a flow, or answers 404. */
export async function flowDetail(
  { database }: FlowReader,
  { caller, params }: FlowQueryCall,
): Promise<FlowView | Failure> {
  const row = await findFlow(database, caller, params.id);
  return row ? viewOf(database, row) : NO_FLOW;
}

/** Lists flows, newest first. */
export const listFlows = (
  { database }: FlowReader,
  call: Call<unknown, FlowQuery>,
): Promise<Page<FlowView> | Failure> =>
  listById(call, {
    list: 'flows',
    prefix: 'flw',
    rows: (range, limit) =>
      readFlows(database, call.caller, range, { status: call.query.status ?? null, limit }),
    item: (row) => flowOf(row, row.definition, null),
  });

const VERSION = /^[1-9]\d{0,8}$/;

/** Lists the versions of a flow, newest first. */
export async function listVersions(
  { database }: FlowReader,
  { caller, params, query }: Call<{ readonly id: string }, VersionQuery>,
): Promise<Page<FlowVersionView> | Failure> {
  const isPosition = (text: string) => VERSION.test(text);
  const request = { list: `flows/${params.id}/versions`, caller, isPosition, query };
  const after = positionOf(request);
  if (after instanceof Failure) return after;
  const row = await findFlow(database, caller, params.id);
  if (!row) return NO_FLOW;
  const below = after === null ? row.version + 1 : Number(after);
  const rows = await readVersions(database, row.id, below, query.limit + 1);
  return pageOf(request, rows, ({ version }) => `${version}`, versionOf);
}

export async function versionDetail(
  { database }: FlowReader,
  { caller, params }: Call<{ readonly id: string; readonly version: string }>,
): Promise<FlowVersionView | Failure> {
  const row = await findFlow(database, caller, params.id);
  if (!row) return NO_FLOW;
  const version = VERSION.test(params.version)
    ? await readVersion(database, row.id, Number(params.version))
    : null;
  return version ? versionOf(version) : notFound('flow version');
}
