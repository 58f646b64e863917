import { eq } from 'drizzle-orm';
import { untilDone } from '../../engine/duties/batches.ts';
import type { Duty } from '../../engine/duties/duty.ts';
import { changedSince, isOutdated, isStatedSql, laterSql, statedMoment } from '../../http/if-updated-at.ts';
import { idempotently, keyedBy } from '../../http/request/idempotent.ts';
import { type Call, Replay } from '../../http/request/route.ts';
import { mintId } from '../../platform/db/ids.ts';
import { workspaces } from '../../platform/db/schema/workspaces.ts';
import { keepReplySql, replyParameters } from '../../platform/db/stored-replies.ts';
import { type Detail, Failure, invalid, notFound } from '../../platform/errors/failure.ts';
import { Problems } from '../../platform/filters/condition.ts';
import { problemsAbove, readContactFilter } from './filter.ts';
import type { AudienceView, NewAudience, PatchAudience } from './model.ts';
import {
  type AudienceCounter,
  type AudienceReader,
  findAudienceRow,
  findWrittenAudience,
} from './queries.ts';

// biome-ignore lint/performance/noBarrelFile: what other modules may do with members, beside the commands themselves.
export { joinAudience, leaveAudience } from './members.ts';

/**
 * The most audiences of one environment, and the most of those with a filter: all of these are asked in one
 * statement. They are counted by `audiences_present`, one request behind the other.
 */
const MOST_AUDIENCES = 1_000;
const MOST_DYNAMIC = 100;

const tooMany = (most: string): Failure =>
  new Failure('CONFLICT', `This environment has ${most} already.`, {
    suggestion: 'Delete one that is no longer needed.',
  });

/**
 * $1 workspace, $2 environment, $3 id, $4 name, $5 description, $6 type, $7 filter, $8 public, $9 confirm,
 * $10 now, $11 on: the reply.
 */
const CREATE = `with created as (
  insert into audiences (workspace_id, livemode, id, name, description, type, filter, public, confirm, filter_since, created_at,
    updated_at)
  select $1, $2::boolean, $3, $4, $5, $6, $7::text::json, $8::boolean, $9::boolean, $10::timestamptz, $10::timestamptz,
    $10::timestamptz
  from audiences_present($1, $2::boolean) where present < ${MOST_AUDIENCES} and ($6 = 'static' or dynamic < ${MOST_DYNAMIC})
  returning id
), walk as (
  insert into audience_walks as w (workspace_id, livemode, began_at, after, next_at)
  select $1, $2::boolean, $10::timestamptz, '', $10::timestamptz from created where $6 = 'dynamic'
  on conflict (workspace_id, livemode) do update set next_at = least(w.next_at, excluded.next_at)
), kept as (
  ${keepReplySql({ from: 'created', reply: 'id', first: 11 })}
)
select id from created`;

export async function createAudience(
  reader: AudienceCounter,
  call: Call<unknown, unknown, NewAudience>,
): Promise<AudienceView | Failure | Replay> {
  const { caller, body, now } = call;
  const {
    name,
    description = null,
    type = 'static',
    filter,
    public: isPublic = false,
    confirm = false,
  } = body;
  const id = mintId('aud', now);
  const problems = [...(await problemsOf(reader, call, { id, type, confirm }))];
  if (type === 'dynamic' && filter === undefined)
    problems.push({ path: '/body/filter', message: 'A dynamic audience is made of a filter.' });
  if (problems.length > 0) return invalid(problems);
  const made = await idempotently<string>(reader.database, keyedBy(call), {
    run: async () => {
      const rows = await reader.database.query(CREATE, [
        caller.workspaceId,
        caller.livemode,
        id,
        name,
        description,
        type,
        filter === undefined ? null : JSON.stringify(filter),
        isPublic,
        confirm,
        new Date(now).toISOString(),
        ...replyParameters(keyedBy(call), 201),
      ]);
      if (rows.length > 0) return id;
      return tooMany(
        type === 'static'
          ? `${MOST_AUDIENCES.toLocaleString('en')} audiences`
          : `${MOST_DYNAMIC} dynamic audiences, or ${MOST_AUDIENCES.toLocaleString('en')} audiences in all,`,
      );
    },
    open: (reply) => reply,
  });
  if (made instanceof Failure) return made;
  const isReplay = made instanceof Replay;
  const view = await findWrittenAudience(reader, caller, isReplay ? String(made.body) : made, now);
  if (!view) return notFound('audience');
  return isReplay ? new Replay(made.status, view) : view;
}

interface AudienceTraits {
  readonly id: string;
  readonly type: string;
  readonly confirm: boolean;
}

/**
 * The problem of a body, or null: only dynamic audiences have a filter, and only static ones ask people to
 * confirm.
 */
async function problemsOf(
  { database }: AudienceReader,
  { caller, body }: Pick<Call<unknown, unknown, NewAudience | PatchAudience>, 'caller' | 'body'>,
  { id, type, confirm }: AudienceTraits,
): Promise<readonly Detail[]> {
  const details: Detail[] = [];
  if (type === 'static' && body.filter !== undefined)
    details.push({ path: '/body/filter', message: 'Only a dynamic audience has a filter.' });
  if (type === 'dynamic') {
    const place = { at: '/body/filter', above: [id] };
    const filter =
      body.filter === undefined ? null : await readContactFilter(database, caller, body.filter, place);
    if (filter instanceof Problems) details.push(...filter.details);
    else if (filter)
      details.push(...(await problemsAbove(database, caller, { id, filter: body.filter }, '/body/filter')));
    if (confirm)
      details.push({
        path: '/body/confirm',
        message: 'A dynamic audience has no members that could confirm.',
      });
  }
  if (type === 'static' && confirm) {
    const [row] = await database.read((orm) =>
      orm
        .select({ defaultFrom: workspaces.defaultFrom })
        .from(workspaces)
        .where(eq(workspaces.id, caller.workspaceId)),
    );
    if (!row?.defaultFrom)
      details.push({
        path: '/body/confirm',
        message: 'Set the default sender of the workspace first: it asks people to confirm.',
      });
  }
  return details;
}

/**
 * Another filter is followed from the beginning, and so are those of audiences that are made of this one:
 * whom it matches to begin with has not joined.
 */
const CHANGE = `with recursive own as materialized (
  select id from audiences where workspace_id = $1 and livemode = $2::boolean and id = $3 and ${isStatedSql('updated_at', '$11')} for update
), made_of_it as (
  select own.id from own where $7::text is not null
  union
  select a.id from made_of_it m join audiences a
    on a.workspace_id = $1 and a.livemode = $2::boolean and a.type = 'dynamic' and strpos(a.filter::text, m.id) > 0
), others as (
  update audiences a set filter_since = $10::timestamptz, is_followed = false
  where a.workspace_id = $1 and a.livemode = $2::boolean and a.id <> $3 and a.id in (select id from made_of_it)
)
update audiences set
  name = coalesce($4, name), description = case when $5::boolean then $6 else description end,
  filter = coalesce($7::text::json, filter), public = coalesce($8::boolean, public), confirm = coalesce($9::boolean, confirm),
  filter_since = case when $7::text is null then filter_since else $10::timestamptz end,
  is_followed = is_followed and $7::text is null,
  updated_at = ${laterSql('updated_at', '$10')}
where workspace_id = $1 and livemode = $2::boolean and id = (select own.id from own) returning id`;

const CHANGED = changedSince('audience');

/** Changes what is named; the type stays. */
export async function patchAudience(
  reader: AudienceCounter,
  call: Call<{ readonly id: string }, unknown, PatchAudience>,
): Promise<AudienceView | Failure> {
  const { caller, params, body, now } = call;
  const row = await findAudienceRow(reader, caller, params.id);
  if (!row) return notFound('audience');
  if (isOutdated(body, row.updatedAt.getTime())) return CHANGED;
  const asked = { id: row.id, type: row.type, confirm: body.confirm === true };
  const problems = await problemsOf(reader, call, asked);
  if (problems.length > 0) return invalid(problems);
  const rows = await reader.database.query(CHANGE, [
    caller.workspaceId,
    caller.livemode,
    row.id,
    body.name ?? null,
    body.description !== undefined,
    body.description ?? null,
    body.filter === undefined ? null : JSON.stringify(body.filter),
    body.public ?? null,
    body.confirm ?? null,
    new Date(now).toISOString(),
    statedMoment(body),
  ]);
  // It existed a moment ago, so another request has changed or deleted it.
  if (rows.length === 0 && (await findAudienceRow(reader, caller, row.id))) return CHANGED;
  return (await findWrittenAudience(reader, caller, row.id, now)) ?? notFound('audience');
}

/**
 * A kind of thing that an audience is needed for. One that is used cannot be deleted: who is left in it would
 * silently get nothing.
 */
export interface AudienceUse {
  /** In the message of the refusal: `a campaign that is scheduled or running`. */
  readonly what: string;
  /** The next step, for the client. */
  readonly suggestion: string;
  /** SQL of a condition over the audience `a`. */
  readonly where: string;
}

/** The services that deleting an audience calls. */
export interface AudienceDeleter extends AudienceReader {
  readonly uses: readonly AudienceUse[];
}

/** An audience that is made of `a`: without it, its filter would match no contact. */
const MADE_OF_IT = `select m.id from audiences m
  where m.workspace_id = a.workspace_id and m.livemode = a.livemode and m.type = 'dynamic' and m.id <> a.id
    and strpos(m.filter::text, a.id) > 0 order by m.id limit 1`;

/**
 * The audience, the number of the first use that keeps it, and an audience whose filter names it; it goes in
 * the same statement where there is neither.
 */
const deleteSql = (uses: readonly AudienceUse[]): string => `with a as materialized (
  select workspace_id, livemode, id from audiences where workspace_id = $1 and livemode = $2::boolean and id = $3
), found as materialized (
  select a.*, case when false then 0 ${uses.map(({ where }, index) => `when ${where} then ${index}`).join(' ')} end as use,
    (${MADE_OF_IT}) as made_of_it from a
), gone as (
  delete from audiences d using found f
  where d.workspace_id = f.workspace_id and d.livemode = f.livemode and d.id = f.id and f.use is null and f.made_of_it is null
)
select use, made_of_it from found`;

/**
 * The members of an audience may be a million, as may the forgotten people who had left it: they go
 * afterwards, in parts.
 */
const BATCH = 2_000;
const sweepOf = (table: string, key: string): string => `delete from ${table} where (${key}) in (
  select ${key} from ${table} where audience_id = $1 limit ${BATCH}
) returning 1 as one`;

/**
 * The audiences that rows of a table were left of: found by jumping through the index from one audience to
 * the next.
 */
const leftIn = (table: string): string => `with recursive named as (
  (select audience_id from ${table} order by audience_id limit 1)
  union all
  select (select m.audience_id from ${table} m where m.audience_id > n.audience_id order by m.audience_id limit 1)
  from named n where n.audience_id is not null
)
select n.audience_id as id from named n
where n.audience_id is not null and not exists (select from audiences a where a.id = n.audience_id)`;

/** The rows that go with an audience. */
const SWEPT = [
  { table: 'audience_members', key: 'audience_id, contact_id' },
  { table: 'forgotten_leavings', key: 'workspace_id, livemode, address_hash, audience_id' },
].map(({ table, key }) => ({ sweep: sweepOf(table, key), left: leftIn(table) }));

/** Deletes an audience; its contacts stay. */
export async function deleteAudience(
  { database, uses }: AudienceDeleter,
  { caller, params }: Call<{ readonly id: string }>,
): Promise<null | Failure> {
  const { workspaceId, livemode } = caller;
  const [row] = await database.query<{ use: number | null; made_of_it: string | null }>(deleteSql(uses), [
    workspaceId,
    livemode,
    params.id,
  ]);
  if (row === undefined) return notFound('audience');
  const use = row.use === null ? undefined : uses[row.use];
  if (use)
    return new Failure('CONFLICT', `The audience is used by ${use.what}.`, { suggestion: use.suggestion });
  if (row.made_of_it !== null)
    return new Failure('CONFLICT', `The audience is used by the filter of the audience ${row.made_of_it}.`, {
      suggestion: 'Change that filter first, or delete that audience.',
    });
  // A duty removes the rows that a crash leaves.
  for (const { sweep } of SWEPT) void untilDone(database, sweep, [params.id], BATCH).catch(() => {});
  return null;
}

/** Removes the rows of audiences whose deletion was cut off. */
export const memberSweeper = ({ database }: AudienceReader): Duty => ({
  name: 'audienceMemberSweeper',
  pattern: '0 41 * * * *',
  async run(stop) {
    for (const { sweep, left } of SWEPT)
      for (const { id } of await database.query<{ id: string }>(left))
        await untilDone(database, sweep, [id], BATCH, stop);
  },
});
