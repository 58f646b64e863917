import { and, eq, isNull, not } from 'drizzle-orm';
import { untilDone } from '../../../engine/duties/batches.ts';
import type { Duty } from '../../../engine/duties/duty.ts';
import { beginRemoval, type RetentionDeps } from '../../../engine/duties/retention.ts';
import type { Engine } from '../../../engine/engine.ts';
import { type Database, PREPARED } from '../../../platform/db/database.ts';
import { lowestIdAt } from '../../../platform/db/ids.ts';
import { flowRuns, flows } from '../../../platform/db/schema/flows.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import type { TestClocks } from '../../../sending/emails/commands.ts';
import { ENTERED, OF_RUNS, TALLY, tallied } from '../runs/tallies.ts';

export interface SettleDeps {
  readonly database: Database;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly testClocks?: () => TestClocks | undefined;
}

const momentOf = (own: string, clock: Clock): number => (own === '' ? clock.now() : Number(own));

/**
 * SQL of the time of a run `p.id` by its test clock; empty for real time. A deleted clock shows the last time
 * of the run.
 */
const OWN_TIME = `(select case when r.test_clock_id is null then '' else greatest(
    (select (extract(epoch from c.now_at) * 1000)::float8 from test_clocks c
      where c.workspace_id = r.workspace_id and c.id = r.test_clock_id),
    (r.context ->> 'at')::float8)::text end
  from flow_runs r where r.id = p.id)`;

const CANCELS = `a.flow_id = $1 and a.ended_at is null and exists (select from flows f
  where f.id = a.flow_id and (a.started_at <= f.cancels_before or f.deleted_at is not null))`;

/** All that were to be ended have ended. */
const CANCELLED = `update flows f set cancels_before = null where f.id = $1 and not exists (
  select from flow_runs r where r.flow_id = f.id and r.ended_at is null and r.started_at <= f.cancels_before)`;

/** Ends the runs of a flow that are to be ended. @throws UnavailableError */
export async function cancelRuns(
  { database, engine, clock }: SettleDeps,
  flowId: string,
  stop?: AbortSignal,
): Promise<void> {
  const selection = { where: CANCELS, parameters: [flowId], along: [], reason: OWN_TIME };
  const eventFor = (own: string) => ({ type: 'cancel.requested' as const, at: momentOf(own, clock) });
  await engine.tellWhere('flowRun', selection, eventFor, stop);
  await database.query(CANCELLED, [flowId]);
}

/** Resumes the runs that their flow holds. @throws UnavailableError */
export async function releaseRuns(
  { database, engine, clock, testClocks }: SettleDeps,
  flowId: string,
  stop?: AbortSignal,
): Promise<void> {
  const where = `a.flow_id = $1 and a.state = 'held'`;
  await engine.tellWhere(
    'flowRun',
    { where, parameters: [flowId], along: [], reason: OWN_TIME },
    (own) => ({ type: 'hold.ended' as const, at: momentOf(own, clock) }),
    stop,
  );
  const runs = await database.read((orm) =>
    orm
      .selectDistinct({ testClockId: flowRuns.testClockId })
      .from(flowRuns)
      .where(and(eq(flowRuns.flowId, flowId), isNull(flowRuns.endedAt))),
  );
  const clocks = runs.flatMap(({ testClockId }) => testClockId ?? []);
  // Only the clocks carry out the orders of these runs, so they are woken.
  if (clocks.length > 0) await testClocks?.()?.wake(clocks);
}

/** Ends the runs of a contact that has been forgotten, whatever they wait for. @throws UnavailableError */
export async function endRunsOf(
  { engine, clock }: Pick<SettleDeps, 'engine' | 'clock'>,
  contactId: string,
  stop?: AbortSignal,
): Promise<void> {
  const where = 'a.contact_id = $1 and a.ended_at is null';
  await engine.tellWhere(
    'flowRun',
    { where, parameters: [contactId], along: [], reason: OWN_TIME },
    (own) => ({ type: 'exit.requested' as const, at: momentOf(own, clock), reason: 'contact_deleted' }),
    stop,
  );
}

const ENDING = `select f.id from flows f where f.cancels_before is not null
  or (f.deleted_at is not null and (select r.id from flow_runs r where r.flow_id = f.id and r.ended_at is null limit 1) is not null)`;

const RELEASED = `select from flow_runs r join flows f on f.id = r.flow_id where r.state = 'held' and not f.is_held`;

/** Finishes requests that a crash cut off. */
export const runSettler = (deps: SettleDeps): Duty => ({
  name: 'flowRunSettler',
  pattern: '*/10 * * * * *',
  asks: () => `exists (${ENDING}) or exists (${RELEASED})`,
  async run(stop) {
    for (const { id } of await deps.database.query<{ id: string }>(ENDING)) await cancelRuns(deps, id, stop);
    const released = await deps.database.read(
      (orm) =>
        orm
          .selectDistinct({ id: flowRuns.flowId })
          .from(flowRuns)
          .innerJoin(flows, eq(flows.id, flowRuns.flowId))
          .where(and(eq(flowRuns.state, 'held'), not(flows.isHeld))),
      PREPARED,
    );
    for (const { id } of released) await releaseRuns(deps, id, stop);
  },
});

const BATCH = 500;

/**
 * Ended runs, by the time at which they began; in the test environment also waiting ones. Their counts are
 * deleted with them, in the same statement.
 */
const BURY = `with old as materialized (
  select id from flow_runs where livemode = $1::boolean and id < $2 and (ended_at is not null or not livemode) order by id limit ${BATCH}
), journal as (
  delete from flow_run_journal j using old o where j.actor_id = o.id
), log as (
  delete from flow_run_log l using old o where l.run_id = o.id returning l.flow_id, l.step, l.outcome
), gone as (
  delete from flow_runs r using old o where r.id = o.id returning r.flow_id, r.status, r.ended_at
), tallied as (
  ${TALLY} ${tallied('log', 'step', 'outcome', '-')}
  union all ${tallied('gone', `'${OF_RUNS}'`, `'${ENTERED}'`, '-')}
  union all ${tallied('gone where ended_at is not null', `'${OF_RUNS}'`, 'status', '-')}
)
select 1 as one from gone`;

/** A flow that was deleted goes when the last of its runs has gone. */
const FORGET = `with gone as materialized (
  select f.id from flows f where f.deleted_at is not null and not exists (select from flow_runs r where r.flow_id = f.id)
), versions as (
  delete from flow_versions v using gone g where v.flow_id = g.id
), entrants as (
  delete from flow_entrants e using gone g where e.flow_id = g.id
), tallies as (
  delete from flow_tallies t using gone g where t.flow_id = g.id
)
delete from flows f using gone g where f.id = g.id`;

/** Deletes old runs, and flows without any rows left. */
export const runPruner = (deps: RetentionDeps): Duty => ({
  name: 'flowRunPruner',
  pattern: '50 */10 * * * *',
  goesByAge: true,
  async run(stop) {
    for (const livemode of [false, true]) {
      const before = lowestIdAt('run', await beginRemoval(deps, livemode));
      await untilDone(deps.database, BURY, [livemode, before], BATCH, stop);
    }
    await deps.database.query(FORGET);
  },
});
