import { eq } from 'drizzle-orm';
import { findContact, type Scope } from '../../../audience/contacts/queries.ts';
import type { Engine } from '../../../engine/engine.ts';
import { search } from '../../../http/lists/bounded-search.ts';
import { type IdRange, idRangeOf } from '../../../http/lists/list.ts';
import { byId, positionOf, searchPageOf } from '../../../http/lists/pagination.ts';
import { idempotently, keyedBy } from '../../../http/request/idempotent.ts';
import type { Call, Page, Replay } from '../../../http/request/route.ts';
import type { Database } from '../../../platform/db/database.ts';
import { isId, timeOfId } from '../../../platform/db/ids.ts';
import type { Reads } from '../../../platform/db/reads.ts';
import { flows } from '../../../platform/db/schema/flows.ts';
import { keepReply, REPLY_KEPT_MS } from '../../../platform/db/stored-replies.ts';
import { Failure, notFound } from '../../../platform/errors/failure.ts';
import { isoOrNull } from '../../../platform/time/clock.ts';
import { clockOfHeader, type StandingClock, type TestClocks } from '../../../sending/emails/commands.ts';
import { NO_FLOW } from '../queries.ts';
import { findFlow } from '../store.ts';
import type { Enrol, FlowVersionRef } from '../triggers/enrol.ts';
import type { FlowRunItemView, FlowRunView, RunQuery, StartRun } from './run-model.ts';

/** The services that runs are read and changed with. */
export interface RunCommands {
  readonly database: Database;
  readonly reads: Reads;
  readonly engine: Engine;
  readonly enrol: Enrol;
  readonly testClocks: () => TestClocks | undefined;
}

const COLUMNS = `r.id, r.livemode, r.flow_id, r.flow_version, r.contact_id, r.status, r.step, r.context ->> 'reason' as reason,
  case when r.status <> 'waiting' then null when r.test_clock_id is null then (extract(epoch from r.wake_at) * 1000)::float8
    else (select min(t.value::text::float8) from json_each(r.timers) t) end as wakes_at,
  (extract(epoch from coalesce(r.clock_started_at, r.started_at)) * 1000)::float8 as started_at, r.test_clock_id, (extract(epoch from r.ended_at) * 1000)::float8 as ended_at`;

interface RunRow {
  readonly id: string;
  readonly livemode: boolean;
  readonly flow_id: string;
  readonly flow_version: number;
  readonly contact_id: string;
  readonly status: FlowRunItemView['status'];
  readonly step: string | null;
  readonly reason: string | null;
  readonly wakes_at: number | null;
  readonly started_at: number;
  readonly test_clock_id: string | null;
  readonly ended_at: number | null;
}

const itemOf = (row: RunRow): FlowRunItemView => ({
  id: row.id,
  livemode: row.livemode,
  flowId: row.flow_id,
  flowVersion: row.flow_version,
  contactId: row.contact_id,
  status: row.status,
  currentStep: row.step,
  reason: row.reason,
  wakesAt: isoOrNull(row.wakes_at),
  startedAt: new Date(row.started_at).toISOString(),
  endedAt: isoOrNull(row.ended_at),
  testClockId: row.test_clock_id,
});

/** The runs of a flow in a range of ids. */
const WITHIN =
  'from flow_runs r where r.flow_id = $1 and ($2::text is null or r.id < $2) and ($3::text is null or r.id >= $3)';

const listSql = ({ order }: IdRange): string => `select ${COLUMNS} ${WITHIN}
  and ($4::text is null or r.status = $4) and ($5::text is null or r.contact_id = $5)
  and ($6::text is null or r.step = $6) and ($7::integer is null or r.flow_version = $7)
  and ($9::text is null or r.id ${order === 'asc' ? '<=' : '>='} $9)
order by r.id ${order} limit $8::integer`;

const nthSql = ({ order }: IdRange): string =>
  `select r.id ${WITHIN} order by r.id ${order} limit 1 offset $4::integer`;

/** The most runs that one request looks at for a filter without an index; a contact's runs have one. */
const MOST_SEARCHED = 10_000;

export async function listRuns(
  { database, reads }: Pick<RunCommands, 'database' | 'reads'>,
  { caller, params, query }: Call<{ readonly id: string }, RunQuery>,
): Promise<Page<FlowRunItemView> | Failure> {
  const request = { list: `flows/${params.id}/runs`, caller, isPosition: byId('run'), query };
  const after = positionOf(request);
  if (after instanceof Failure) return after;
  if (!(await findFlow(database, caller, params.id))) return NO_FLOW;
  const { status = null, contactId = null, step = null, version = null, limit } = query;
  const filters = [status, contactId, step, version];
  const range = idRangeOf('run', after, query);
  const within = [params.id, range.below, range.from];
  const rowsUntil = (end: string | null): Promise<readonly RunRow[]> =>
    reads.query<RunRow>(listSql(range), [...within, ...filters, limit + 1, end]);
  const nth = async (count: number): Promise<string | null> =>
    (await reads.query<{ id: string }>(nthSql(range), [...within, count - 1]))[0]?.id ?? null;
  const isFound = contactId !== null || filters.every((each) => each === null);
  const found = isFound
    ? { rows: await rowsUntil(null), stoppedAt: null }
    : await search({ nth, rowsUntil }, limit, MOST_SEARCHED);
  return searchPageOf(request, found.rows, ({ id }) => id, itemOf, found.stoppedAt);
}

const FIND = `select ${COLUMNS}, coalesce((
  select json_agg(json_build_object('step', l.step, 'at', (extract(epoch from l.at) * 1000)::float8, 'outcome', l.outcome,
    'emailId', l.email_id) order by l.visit)
  from (select * from flow_run_log where run_id = r.id order by visit desc limit 1000) l
), '[]') as log
from flow_runs r where r.workspace_id = $1 and r.livemode = $2::boolean and r.id = $3`;

type FoundRow = RunRow & {
  readonly log: readonly {
    readonly step: string;
    readonly at: number;
    readonly outcome: string;
    readonly emailId: string | null;
  }[];
};

const NO_RUN = notFound('flow run');

/** Reads a run with its log; null when there is none. @throws UnavailableError */
async function findRun(
  database: Database,
  { workspaceId, livemode }: Scope,
  id: string,
): Promise<FlowRunView | null> {
  const [row] = await database.query<FoundRow>(FIND, [workspaceId, livemode, id]);
  if (!row) return null;
  const log = row.log.map((line) => ({ ...line, at: new Date(line.at).toISOString() }));
  return { ...itemOf(row), log };
}

type FlowRunCall = Call<{ readonly id: string }>;

/** Reads a run, or answers 404. */
export const runDetail = async (
  { database }: Pick<RunCommands, 'database'>,
  { caller, params }: FlowRunCall,
): Promise<FlowRunView | Failure> => (await findRun(database, caller, params.id)) ?? NO_RUN;

const ENDED = new Failure('CONFLICT', 'This run has ended.');

/** Ends a run. Ending a cancelled one again changes nothing. */
export async function cancelRun(
  { database, engine, testClocks }: Pick<RunCommands, 'database' | 'engine' | 'testClocks'>,
  { caller, params, now }: FlowRunCall,
): Promise<null | Failure> {
  const { workspaceId, livemode } = caller;
  const clockId = caller.livemode ? null : (await findRun(database, caller, params.id))?.testClockId;
  const clock = clockId ? await testClocks()?.find(workspaceId, clockId) : null;
  // A run whose clock was deleted was cancelled with it.
  if (clock instanceof Failure && clock.code === 'CONFLICT') return clock;
  const at = clock && !(clock instanceof Failure) ? clock.now : now;
  const event = { type: 'cancel.requested' as const, at };
  const told = await engine.tell('flowRun', params.id, event, { scope: { workspaceId, livemode } });
  if (told.outcome === 'absent') return NO_RUN;
  if (told.outcome === 'changed') return null;
  return (await findRun(database, caller, params.id))?.status === 'cancelled' ? null : ENDED;
}

const NOT_ACTIVE = new Failure('CONFLICT', 'This flow is not active.', {
  suggestion: 'Activate it with POST /v1/flows/{id}/activate.',
});
const NOT_MANUAL = new Failure('CONFLICT', 'The trigger of this flow begins its runs.', {
  suggestion: 'Only a flow whose trigger is manual can be started manually.',
});
const NOT_FREE = new Failure(
  'CONFLICT',
  'This contact cannot begin the flow now: it has an open run, may not enter again, or does not match the filter of the trigger.',
);

/** The test clock that the request names, or that of the contact. */
const clockOfRun = async (
  testClocks: RunCommands['testClocks'],
  { caller, headers }: Pick<Call, 'caller' | 'headers'>,
  contactId: string,
): Promise<StandingClock | Failure | null> =>
  (await clockOfHeader(testClocks, caller, headers)) ??
  (caller.livemode ? null : ((await testClocks()?.ofContact(caller.workspaceId, contactId)) ?? null));

/**
 * The run that an earlier request with the same key has begun, whose answer was not stored: the service died
 * before. A key is remembered for a day. An older run is another occurrence, as its reply would be gone.
 */
async function runOf(
  database: Database,
  { workspaceId, flowId }: Pick<FlowVersionRef, 'workspaceId' | 'flowId'>,
  key: string,
  now: number,
): Promise<string | null> {
  const [row] = await database.query<{ id: string }>(
    'select id from flow_runs where occurrence_key = $1 and flow_id = $2 and workspace_id = $3',
    [key, flowId, workspaceId],
  );
  return row && timeOfId(row.id) > now - REPLY_KEPT_MS ? row.id : null;
}

/** Starts a run on request. */
export function startRun(
  { database, enrol, testClocks }: RunCommands,
  call: Call<{ readonly id: string }, unknown, StartRun>,
): Promise<FlowRunView | Failure | Replay> {
  const { caller, params, body, requestId } = call;
  const run = async (): Promise<FlowRunView | Failure> => {
    const flow = await findFlow(database, caller, params.id);
    if (!flow) return NO_FLOW;
    if (flow.status !== 'active' || flow.published_version === null) return NOT_ACTIVE;
    const [row] = await database.read((orm) =>
      orm.select({ trigger: flows.triggerType }).from(flows).where(eq(flows.id, flow.id)),
    );
    if (row?.trigger !== 'manual') return NOT_MANUAL;
    const contact = isId('con', body.contactId)
      ? await findContact({ database }, caller, body.contactId)
      : null;
    if (!contact) return notFound('contact');
    const clock = await clockOfRun(testClocks, call, contact.id);
    if (clock instanceof Failure) return clock;
    const { workspaceId, livemode } = caller;
    const beginning = { workspaceId, livemode, flowId: flow.id, version: flow.published_version };
    // A key that the client has chosen names the occurrence, even when the reply to it was lost. It may name
    // other requests as well.
    const key = `by hand ${contact.id} ${call.claim ? call.claim.key : requestId}`;
    let refused: Failure = NOT_FREE;
    const [id] = await enrol(
      beginning,
      [{ contactId: contact.id, key, eventId: null, position: '0', depth: 0 }],
      {
        clock: clock && {
          ...clock,
          admit: async (count) =>
            (await testClocks()?.enter(workspaceId, clock, { what: 'runs', count })) ?? null,
        },
        refused: (failure) => {
          refused = failure;
        },
      },
    );
    if (id !== undefined && clock) testClocks()?.entered(workspaceId, clock);
    const begun = id ?? (call.claim ? await runOf(database, beginning, key, call.now) : null);
    if (begun === null) {
      // The flow may have been paused since it was read.
      const now = await findFlow(database, caller, params.id);
      return now?.status === 'active' ? refused : now ? NOT_ACTIVE : NO_FLOW;
    }
    const made = await findRun(database, caller, begun);
    if (!made) return NO_RUN;
    await keepReply(database, keyedBy(call), 201, made);
    return made;
  };
  return idempotently(database, keyedBy(call), { lookFirst: true, run });
}
