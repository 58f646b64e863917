import type { FlowDefinition } from '../../../machines/flow-run/definition.ts';
import { changedSince, isOutdated, laterSql } from '../../http/if-updated-at.ts';
import { answeredOnce, idempotently, keyedBy } from '../../http/request/idempotent.ts';
import { type Call, Replay } from '../../http/request/route.ts';
import { mintId } from '../../platform/db/ids.ts';
import { keepReplySql, replyParameters } from '../../platform/db/stored-replies.ts';
import { type Detail, Failure, invalid } from '../../platform/errors/failure.ts';
import { type Clock, isoOf } from '../../platform/time/clock.ts';
import {
  type ActivateBody,
  type FlowView,
  MOST_FLOWS,
  type NewFlow,
  type PatchFlow,
  type PauseBody,
  type ValidationView,
} from './definition/model.ts';
import { readDefinition } from './definition/read-definition.ts';
import { type SenderChecks, senderProblems } from './definition/senders.ts';
import { problemsOf, type Validator } from './definition/validate.ts';
import { NO_FLOW, viewOf } from './queries.ts';
import { type FlowWithVersion, findFlow } from './store.ts';

/** The services that looking for the problems of a flow calls. */
type FlowValidator = Validator & SenderChecks;
type FlowCall<Body = unknown> = Call<{ readonly id: string }, unknown, Body>;

const TOO_MANY = new Failure('CONFLICT', `This environment has ${MOST_FLOWS} flows, the maximum.`, {
  suggestion: 'Delete one that you no longer need.',
});
/** A change is decided again when another one was faster, so often. */
const MOST_TRIES = 20;
const FASTER = new Failure('CONFLICT', 'Another request changed the flow meanwhile.', {
  suggestion: 'Read it again, then repeat the change.',
});

const CHANGED = changedSince('flow');

/** $1 workspace, $2 environment, $3 id, $4 name, $5 definition, $6 now, $7 on: the reply. */
const CREATE = `with created as (
  insert into flows (workspace_id, livemode, id, name, status, version, created_at, updated_at)
  select $1, $2::boolean, $3, $4, 'draft', 1, $6::timestamptz, $6::timestamptz
  from flows_present($1, $2::boolean) present where present < ${MOST_FLOWS}
  returning id
), versioned as (
  insert into flow_versions (flow_id, version, definition, created_at)
  select id, 1, $5::text::json, $6::timestamptz from created
), kept as (
  ${keepReplySql({ from: 'created', reply: 'id', first: 7 })}
)
select id from created`;

/** Creates a flow as a draft. Validation reports what is missing. */
export async function createFlow(
  { database }: Validator,
  call: Call<unknown, unknown, NewFlow>,
): Promise<FlowView | Failure | Replay> {
  const { caller, body, now } = call;
  const { definition, problems } = readDefinition(body);
  if (problems.length > 0) return invalid(problems);
  const made = await idempotently<string>(database, keyedBy(call), {
    run: async () => {
      const id = mintId('flw', now);
      const rows = await database.query(CREATE, [
        caller.workspaceId,
        caller.livemode,
        id,
        body.name,
        JSON.stringify(definition),
        new Date(now).toISOString(),
        ...replyParameters(keyedBy(call), 201),
      ]);
      return rows.length > 0 ? id : TOO_MANY;
    },
    open: (reply) => reply,
  });
  if (made instanceof Failure) return made;
  const isReplay = made instanceof Replay;
  const row = await findFlow(database, caller, isReplay ? String(made.body) : made);
  if (!row) return NO_FLOW;
  const view = await viewOf(database, row);
  return isReplay ? new Replay(made.status, view) : view;
}

/**
 * $1 workspace, $2 environment, $3 id, $4 the version that was read, $5 name, $6 the definition or null, $7
 * now, $8 the previous change. A published version never changes: a later write makes the next version.
 */
const PATCH = `with target as materialized (
  select f.id, f.version, v.published_at is not null as is_published from flows f
  join flow_versions v on v.flow_id = f.id and v.version = f.version
  where f.workspace_id = $1 and f.livemode = $2::boolean and f.id = $3 and f.version = $4::integer and f.updated_at = $8::timestamptz and f.deleted_at is null
  for update of f
), written as (
  insert into flow_versions (flow_id, version, definition, created_at)
  select id, version + is_published::integer, $6::text::json, $7::timestamptz from target where $6::text is not null
  on conflict (flow_id, version) do update set definition = excluded.definition where flow_versions.published_at is null
)
update flows f set name = coalesce($5, f.name), updated_at = ${laterSql('f.updated_at', '$7')},
  version = f.version + case when $6::text is not null and t.is_published then 1 else 0 end
from target t where f.id = t.id returning f.id`;

/**
 * Changes a flow. While a version of it runs, the change is a draft beside it until the flow is activated.
 */
export async function patchFlow(
  { database }: Validator,
  { caller, params, body, now }: FlowCall<PatchFlow>,
): Promise<FlowView | Failure> {
  const { name, ifUpdatedAt, ...written } = body;
  const isSame = Object.keys(written).length === 0;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const row = await findFlow(database, caller, params.id);
    if (!row) return NO_FLOW;
    if (isOutdated({ ifUpdatedAt }, row.updated_at)) return CHANGED;
    const { definition, problems } = readDefinition(written, row.definition);
    if (problems.length > 0) return invalid(problems);
    const rows = await database.query(PATCH, [
      caller.workspaceId,
      caller.livemode,
      row.id,
      row.version,
      name ?? null,
      isSame ? null : JSON.stringify(definition),
      new Date(now).toISOString(),
      new Date(row.updated_at).toISOString(),
    ]);
    if (rows.length === 0) continue;
    const after = await findFlow(database, caller, row.id);
    return after ? viewOf(database, after) : NO_FLOW;
  }
  return FASTER;
}

/** Everything that keeps a flow from running, and its emails from leaving. */
async function allProblems(
  validator: FlowValidator,
  caller: FlowCall['caller'],
  definition: FlowDefinition,
): Promise<readonly Detail[]> {
  const found = await Promise.all([
    problemsOf(validator, caller, definition),
    senderProblems(validator, caller, definition),
  ]);
  return found.flat();
}

/** Tells everything that keeps a flow from running, and its emails from leaving. */
export async function validateFlow(
  validator: FlowValidator,
  { caller, params }: FlowCall,
): Promise<ValidationView | Failure> {
  const row = await findFlow(validator.database, caller, params.id);
  if (!row) return NO_FLOW;
  const problems = await allProblems(validator, caller, row.definition);
  return { valid: problems.length === 0, problems: [...problems] };
}

/**
 * $1 id, $2 version, $3 now, $4 type of the trigger, $5 the audience or event that it listens to, $6 the
 * previous change: only the checked version is published. Earlier occurrences begin no run, and a flow that
 * is activated after a pause has missed those of the pause.
 */
const ACTIVATE = `with activated as (
  update flows set status = 'active', is_held = false, published_version = $2::integer, trigger_type = $4, listens_to = $5,
    since_position = case when status = 'active' then since_position else event_position() end,
    scanned_to = case when status = 'active' and trigger_type = 'dateProperty' then coalesce(scanned_to, $3::timestamptz) else $3::timestamptz end,
    updated_at = ${laterSql('updated_at', '$3')}
  where id = $1 and version = $2::integer and updated_at = $6::timestamptz and deleted_at is null returning id
), published as (
  update flow_versions v set published_at = coalesce(v.published_at, $3::timestamptz)
  from activated a where v.flow_id = a.id and v.version = $2::integer
)
select id from activated`;

const listensTo = ({ trigger }: FlowDefinition): string | null =>
  'audienceId' in trigger ? trigger.audienceId : trigger.type === 'event' ? trigger.name : null;

/** The services that starting and stopping flows call. */
export interface FlowCommands extends FlowValidator {
  readonly clock: Pick<Clock, 'now'>;
  /** Releases held runs; a duty finds those that a crash leaves behind. */
  release(flowId: string): Promise<unknown>;
  /** Ends runs that are to be cancelled; the rest of many is found by a duty. */
  cancelRuns(flowId: string): Promise<unknown>;
}

/** Publishes the last written version, and activates the flow. */
export const activateFlow = (
  commands: FlowCommands,
  call: FlowCall<ActivateBody>,
): Promise<FlowView | Failure | Replay> =>
  answeredOnce(commands.database, call, () => activate(commands, call));

async function activate(
  commands: FlowCommands,
  { caller, params, body, now }: FlowCall<ActivateBody>,
): Promise<FlowView | Failure> {
  const { database } = commands;
  const row = await findFlow(database, caller, params.id);
  if (!row) return NO_FLOW;
  if (isOutdated(body, row.updated_at)) return CHANGED;
  const problems = await allProblems(commands, caller, row.definition);
  if (problems.length > 0) return invalid(problems);
  const rows = await database.query(ACTIVATE, [
    row.id,
    row.version,
    new Date(now).toISOString(),
    row.definition.trigger.type,
    listensTo(row.definition),
    new Date(row.updated_at).toISOString(),
  ]);
  if (rows.length === 0) return FASTER;
  void commands.release(row.id).catch(() => {});
  return answer(commands, caller, row);
}

const PAUSE = `update flows set status = 'paused', is_held = $3::boolean, updated_at = ${laterSql('updated_at', '$2')}
where id = $1 and status <> 'draft' and deleted_at is null returning id`;

/**
 * Comes behind the pause, after which no run begins: one may have begun since the request came. The clock of
 * the instance that began the last one may be ahead of this one.
 */
const CANCEL = `update flows f set cancels_before = greatest($2::timestamptz, (
  select r.started_at from flow_runs r where r.flow_id = f.id order by r.id desc limit 1
)) where f.id = $1`;

const NEVER_RAN = new Failure('CONFLICT', 'This flow is a draft, so there is nothing to pause.');

/** Stops a flow from beginning runs, and holds, cancels or continues those under way. */
export const pauseFlow = (
  commands: FlowCommands,
  call: FlowCall<PauseBody>,
): Promise<FlowView | Failure | Replay> => answeredOnce(commands.database, call, () => pause(commands, call));

async function pause(
  commands: FlowCommands,
  { caller, params, body, now }: FlowCall<PauseBody>,
): Promise<FlowView | Failure> {
  const row = await findFlow(commands.database, caller, params.id);
  if (!row) return NO_FLOW;
  const { runs = 'finish' } = body;
  const rows = await commands.database.query(PAUSE, [row.id, new Date(now).toISOString(), runs === 'hold']);
  if (rows.length === 0) return NEVER_RAN;
  if (runs === 'cancel') {
    await commands.database.query(CANCEL, [row.id, isoOf(commands.clock.now())]);
    await commands.cancelRuns(row.id);
  }
  if (runs === 'finish') void commands.release(row.id).catch(() => {});
  return answer(commands, caller, row);
}

const HAS_RUNS = new Failure('CONFLICT', 'This flow has open runs.', {
  suggestion: 'Pause it and wait until they end, or send the request with runs=cancel.',
});

/**
 * A deleted flow is visible to no caller; its runs are kept as long as any others, with the versions that
 * they ran.
 */
const DELETE = `update flows f set deleted_at = $2::timestamptz, status = 'paused', is_held = false,
  cancels_before = case when $3::boolean then $2::timestamptz else cancels_before end
where f.id = $1 and f.deleted_at is null
  and ($3::boolean or not exists (select from flow_runs r where r.flow_id = f.id and r.ended_at is null)) returning id`;

export async function deleteFlow(
  commands: FlowCommands,
  { caller, params, query, now }: Call<{ readonly id: string }, { readonly runs?: 'cancel' }>,
): Promise<null | Failure> {
  const row = await findFlow(commands.database, caller, params.id);
  if (!row) return NO_FLOW;
  const cancels = query.runs === 'cancel';
  const rows = await commands.database.query(DELETE, [row.id, new Date(now).toISOString(), cancels]);
  if (rows.length === 0) return HAS_RUNS;
  if (cancels) await commands.cancelRuns(row.id);
  return null;
}

async function answer(
  { database }: FlowCommands,
  caller: Call['caller'],
  { id }: FlowWithVersion,
): Promise<FlowView | Failure> {
  const row = await findFlow(database, caller, id);
  return row ? viewOf(database, row) : NO_FLOW;
}
