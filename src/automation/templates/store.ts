import { and, desc, eq, lt, sql } from 'drizzle-orm';
import type { AnyPgColumn } from 'drizzle-orm/pg-core';
import { type IdRange, inOrder, withinRange } from '../../http/lists/list.ts';
import { BatchedRead } from '../../platform/async/batched-read.ts';
import { type Database, PREPARED } from '../../platform/db/database.ts';
import { isId } from '../../platform/db/ids.ts';
import { templates, templateVersions } from '../../platform/db/schema/templates.ts';
import { type KeyedRequest, keepReplySql, replyParameters } from '../../platform/db/stored-replies.ts';
import type { TemplateKind } from './layers/layer-model.ts';
import { DETAILS, type Details } from './model.ts';
import type { StoredContent, VersionContent } from './render/content.ts';

/** The owner of a template. */
export interface Owner {
  readonly workspaceId: string;
  readonly livemode: boolean;
}

type StoredTemplateRow = typeof templates.$inferSelect;

/** A template without its content. `version` is the one that is sent, `latest` the newest. */
export interface TemplateRow
  extends Details,
    Readonly<Pick<StoredTemplateRow, 'id' | 'kind' | 'version' | 'latest' | 'revision'>> {
  /** Epoch milliseconds. */
  readonly created_at: number;
  readonly updated_at: number;
}

/** The columns of the details, each beside its name. */
const detailColumns = DETAILS.map((name) => ({ name, column: templates[name].name }));
const listOfDetails = (each: (column: string, name: string) => string): string =>
  detailColumns.map(({ name, column }) => each(column, name)).join(', ');
/** The details of a row as one parameter, typed by the columns of the table. */
const detailsJson = (row: TemplateRow): string =>
  JSON.stringify({
    kind: row.kind,
    ...Object.fromEntries(detailColumns.map(({ name, column }) => [column, row[name]])),
  });
const DETAILS_OF = (parameter: string) => `json_populate_record(null::templates, ${parameter}::json) d`;

/** The columns of a row of templates `t`. */
export const rowColumns = `t.id, ${listOfDetails((column, name) => `t.${column} as "${name}"`)}, t.kind, t.version, t.latest, t.revision,
  (extract(epoch from t.created_at) * 1000)::float8 as created_at,
  (extract(epoch from t.updated_at) * 1000)::float8 as updated_at`;

const FIND = `select ${rowColumns}, a.n from json_to_recordset($1::text::json)
    as a(n integer, workspace_id text, livemode boolean, id text)
  join templates t on t.id = a.id and t.workspace_id = a.workspace_id and t.livemode = a.livemode
union all
select ${rowColumns}, a.n from json_to_recordset($2::text::json)
    as a(n integer, workspace_id text, livemode boolean, alias text)
  join templates t on t.workspace_id = a.workspace_id and t.livemode = a.livemode and t.alias = a.alias`;

interface TemplateLookup extends Owner {
  /** An id, or an alias. */
  readonly name: string;
}

const nameOf = ({ workspaceId, livemode, name }: TemplateLookup): string =>
  `${workspaceId} ${livemode} ${name}`;

/** Finds templates by id or alias, those that are sought at the same time with one statement. */
export const templateFinder = (database: Database) =>
  new BatchedRead<TemplateLookup, TemplateRow | null>(
    'templates',
    (asked) => findAll(database, asked),
    undefined,
    1,
  );

async function findAll(
  database: Database,
  asked: readonly TemplateLookup[],
): Promise<(sought: TemplateLookup) => TemplateRow | null> {
  const names = [...new Map(asked.map((sought) => [nameOf(sought), sought]))];
  const byId: object[] = [];
  const byAlias: object[] = [];
  for (const [n, [, { workspaceId, livemode, name }]] of names.entries()) {
    const sought = { n, workspace_id: workspaceId, livemode };
    if (isId('tpl', name)) byId.push({ ...sought, id: name });
    else byAlias.push({ ...sought, alias: name });
  }
  const rows = await database.query<TemplateRow & { readonly n: number }>(FIND, [
    JSON.stringify(byId),
    JSON.stringify(byAlias),
  ]);
  const found = new Map(rows.map(({ n, ...row }) => [names[n]?.[0], row]));
  return (sought) => found.get(nameOf(sought)) ?? null;
}

/** The content of a version, and the time at which it was written. */
export interface VersionRow
  extends Readonly<Pick<typeof templateVersions.$inferSelect, 'version' | 'createdAt'>> {
  readonly content: StoredContent;
}

const { version, content, createdAt } = templateVersions;
const versionColumns = { version, content, createdAt };

/** Versions that were written before there was MJML, layouts, or languages, have none of their members. */
const EARLIER: Partial<StoredContent> = {
  mjml: null,
  notes: [],
  layoutId: null,
  slots: {},
  layered: null,
  language: null,
  translations: {},
  translated: {},
};
const withMembers = (stored: unknown): StoredContent => ({ ...EARLIER, ...(stored as StoredContent) });
const versionOf = (
  row: Pick<typeof templateVersions.$inferSelect, keyof typeof versionColumns>,
): VersionRow => ({
  ...row,
  content: withMembers(row.content),
});

/** One version of a template that was found; null where it has none of that number. */
export async function readVersion(
  database: Database,
  id: string,
  number: number,
): Promise<VersionRow | null> {
  const [row] = await database.read(
    (orm) =>
      orm
        .select(versionColumns)
        .from(templateVersions)
        .where(and(eq(templateVersions.templateId, id), eq(version, number))),
    PREPARED,
  );
  return row ? versionOf(row) : null;
}

/** The members of a version that lists show. */
export type ListedContent = Omit<VersionContent, 'html' | 'markdown' | 'mjml' | 'text' | 'translations'> & {
  /** The languages of its translations. */
  readonly languages: string[];
};

/**
 * Of a version that is listed, the bodies and what was made of them stay in the database: 100 of them may be
 * 100 MB.
 */
const WITHOUT_BODIES = sql<ListedContent>`(select row_to_json(l) from (select c.*,
    array(select json_object_keys(${content} -> 'translations')) as languages
  from json_to_record(${content}) as c(format text, subject text, "previewText" text, "from" text, "replyTo" json,
    variables json, "layoutId" text, language text)) l)`;

export interface ListedVersion extends Pick<VersionRow, 'version' | 'createdAt'> {
  readonly content: ListedContent;
}

/** The versions below a number, newest first. */
export const readVersions = (
  database: Database,
  id: string,
  below: number,
  limit: number,
): Promise<ListedVersion[]> =>
  database.read(
    (orm) =>
      orm
        .select({ version, content: WITHOUT_BODIES, createdAt })
        .from(templateVersions)
        .where(and(eq(templateVersions.templateId, id), lt(version, below)))
        .orderBy(desc(version))
        .limit(limit),
    PREPARED,
  );

const selectedDetails = Object.fromEntries(DETAILS.map((name) => [name, templates[name]])) as Pick<
  typeof templates,
  keyof Details
>;

/** The templates of an owner with what their present version says, newest first. */
export const readTemplates = (
  database: Database,
  { workspaceId, livemode }: Owner,
  kind: TemplateKind | undefined,
  range: IdRange,
  limit: number,
): Promise<(TemplateRow & { readonly content: ListedContent })[]> =>
  database.read((orm) =>
    orm
      .select({
        id: templates.id,
        ...selectedDetails,
        kind: templates.kind,
        version: templates.version,
        latest: templates.latest,
        revision: templates.revision,
        created_at: epochMs(templates.createdAt),
        updated_at: epochMs(templates.updatedAt),
        content: WITHOUT_BODIES,
      })
      .from(templates)
      .innerJoin(
        templateVersions,
        and(eq(templateVersions.templateId, templates.id), eq(version, templates.version)),
      )
      .where(
        and(
          eq(templates.workspaceId, workspaceId),
          eq(templates.livemode, livemode),
          ...(kind === undefined ? [] : [eq(templates.kind, kind)]),
          ...withinRange(templates.id, range),
        ),
      )
      .orderBy(inOrder(templates.id, range))
      .limit(limit),
  );

const epochMs = (column: AnyPgColumn) => sql<number>`(extract(epoch from ${column}) * 1000)::float8`;

/** A write: the template as it is to be, the new version if there is one, and the reply that is kept. */
export interface Write {
  readonly owner: Owner;
  readonly row: TemplateRow;
  /** The content of the newest version; null where no version is added. */
  readonly content: StoredContent | null;
  readonly keyed: KeyedRequest;
  readonly status: number;
  readonly reply: string;
}

const FIRST = 10;
const kept = keepReplySql({ from: 'written', reply: '$17::text', first: FIRST });
/** The ids in `layers`, as they are searched by. */
export const USES_OF = (content: string) =>
  `array(select l ->> 'templateId' from json_array_elements(${content} #> '{layered,layers}') l)`;
const VERSION_OF_IT = `insert into template_versions (template_id, version, content, uses, created_at)
  select id, $6::integer, $8::text::json, ${USES_OF('$8::text::json')}, $9::timestamptz
  from written where $8::text is not null`;

const INSERT = `with written as (
  insert into templates
    (id, workspace_id, livemode, kind, ${listOfDetails((column) => column)}, version, latest, revision, created_at, updated_at)
  select $1, $2, $3::boolean, d.kind, ${listOfDetails((column) => `d.${column}`)}, $5::integer, $6::integer, $7::integer,
    $9::timestamptz, $9::timestamptz
  from ${DETAILS_OF('$4')}
  returning id
), version as (${VERSION_OF_IT}), kept as (${kept})
select id from written`;

const UPDATE = `with written as (
  update templates t set ${listOfDetails((column) => `${column} = d.${column}`)}, version = $5::integer,
    latest = $6::integer, revision = $7::integer, updated_at = $9::timestamptz
  from ${DETAILS_OF('$4')}
  where t.id = $1 and t.workspace_id = $2 and t.livemode = $3::boolean and t.revision = $7::integer - 1
  returning t.id
), version as (${VERSION_OF_IT}), kept as (${kept})
select id from written`;

const parametersOf = ({ owner, row, content, keyed, status, reply }: Write) => [
  row.id,
  owner.workspaceId,
  owner.livemode,
  detailsJson(row),
  row.version,
  row.latest,
  row.revision,
  content === null ? null : JSON.stringify(content),
  new Date(row.updated_at).toISOString(),
  ...replyParameters(keyed, status),
  reply,
];

/** Adds a template. @throws UnavailableError, and when its alias or the key of the request is taken */
export async function insertTemplate(database: Database, write: Write): Promise<void> {
  await database.query(INSERT, parametersOf(write));
}

/**
 * Changes a template whose revision is the one before; false when another request has changed it since.
 * @throws as `insertTemplate`
 */
export async function updateTemplate(database: Database, write: Write): Promise<boolean> {
  const rows = await database.query(UPDATE, parametersOf(write));
  return rows.length > 0;
}
