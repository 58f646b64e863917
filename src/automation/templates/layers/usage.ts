import type { Database } from '../../../platform/db/database.ts';
import type { StoredContent } from '../render/content.ts';
import { type Owner, rowColumns, type TemplateRow, USES_OF } from '../store.ts';
import { MOST_USERS, type UsedBy } from './layer-model.ts';

/** SQL of a condition over a version `v`: it was made of the template with that id. */
const IS_MADE_OF = (id: string) => `v.uses @> array[${id}]::text[] and v.uses <> '{}'`;

/**
 * SQL of a condition over the id of a template: another one uses it, in the published or the newest version.
 */
export const isUsedByTemplates = (id: string): string => `exists (select from template_versions v
  join templates u on u.id = v.template_id and v.version in (u.version, u.latest) where ${IS_MADE_OF(id)})`;

/** The templates that use one, in the published or the newest version. Their count is bounded. */
export async function usersOf(
  database: Database,
  { id, kind }: Pick<TemplateRow, 'id' | 'kind'>,
): Promise<UsedBy> {
  if (kind === 'template') return { count: 0, templates: [] };
  const rows = await database.query<UsedBy['templates'][number] & { readonly count: number }>(
    `with users as (select distinct u.id, u.name, u.alias, u.kind from template_versions v
       join templates u on u.id = v.template_id and v.version in (u.version, u.latest)
       where ${IS_MADE_OF('$1::text')} limit ${MOST_USERS.counted})
     select id, name, alias, kind, (select count(*) from users)::integer as count
     from users order by id desc limit ${MOST_USERS.named}`,
    [id],
  );
  return {
    count: rows[0]?.count ?? 0,
    templates: rows.map(({ count: _, ...user }) => user),
  };
}

/** The templates whose published version uses one; one more than `limit` where there are more. */
export const readUsers = (database: Database, id: string, limit: number): Promise<TemplateRow[]> =>
  database.query<TemplateRow>(
    `select ${rowColumns} from template_versions v
       join templates t on t.id = v.template_id and v.version = t.version
     where ${IS_MADE_OF('$1::text')} order by t.id limit ${limit + 1}`,
    [id],
  );

/** A template with the version that it is to have. */
export interface NewVersion {
  readonly row: TemplateRow;
  readonly content: StoredContent;
  /** The draft that is newer than the published version, and stays so; null for none. */
  readonly draft: StoredContent | null;
}

const UPDATE_ALL = `with given as materialized (
  select * from json_to_recordset($1::text::json)
    as g(id text, version integer, latest integer, revision integer, written_at timestamptz, content json, draft json)
), locked as (
  select t.id from templates t join given g on g.id = t.id and t.revision = g.revision - 1
  where t.workspace_id = $2 and t.livemode = $3::boolean order by t.id for update of t
), complete as (
  select (select count(*) from locked) = (select count(*) from given) as holds
), changed as (
  update templates t set version = g.version, latest = g.latest, revision = g.revision, updated_at = g.written_at
  from given g where g.id = t.id and (select holds from complete)
  returning t.id
), versions as (
  insert into template_versions (template_id, version, content, uses, created_at)
  select g.id, v.version, v.content, ${USES_OF('v.content')}, g.written_at
  from given g join changed c on c.id = g.id
    cross join lateral (values (g.version, g.content), (g.latest, g.draft)) v(version, content)
  where v.content is not null and json_typeof(v.content) = 'object'
)
select id from changed`;

/**
 * Publishes a new version of each template, of all or of none; false when another request has changed one of
 * them since.
 */
export async function publishAll(
  database: Database,
  { workspaceId, livemode }: Owner,
  versions: readonly NewVersion[],
): Promise<boolean> {
  const given = versions.map(({ row: { id, version, latest, revision, updated_at }, content, draft }) => ({
    id,
    version,
    latest,
    revision,
    content,
    draft,
    written_at: new Date(updated_at).toISOString(),
  }));
  const rows = await database.query(UPDATE_ALL, [JSON.stringify(given), workspaceId, livemode]);
  return rows.length === versions.length;
}
