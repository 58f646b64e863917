import type { Principal } from '../../http/auth/principal.ts';
import { listById } from '../../http/lists/list.ts';
import { pageOf, positionOf } from '../../http/lists/pagination.ts';
import type { Call, Page } from '../../http/request/route.ts';
import type { Database } from '../../platform/db/database.ts';
import { Failure, invalidAt, notFound } from '../../platform/errors/failure.ts';
import { usersOf } from './layers/usage.ts';
import type { TemplateItemView, TemplateQuery, TemplateView, VersionItemView, VersionView } from './model.ts';
import { readTemplates, readVersion, readVersions, type TemplateRow } from './store.ts';
import type { FoundVersion, Versions } from './versions.ts';
import { itemOf, versionItemOf, versionOf, viewOf } from './views.ts';

/** The services that reading templates calls. */
export interface TemplateReader {
  readonly database: Database;
  readonly versions: Versions;
}

type TemplateQueryCall = Call<{ readonly id: string }>;

export const NO_TEMPLATE = notFound('template');
export const NO_VERSION = notFound('template version');

/** The 422 of a layout or partial that is to be sent; null for a template. */
export const problemOfKind = ({ kind, alias, id }: TemplateRow, path: string): Failure | null =>
  kind === 'template'
    ? null
    : invalidAt(
        path,
        `${alias ?? id} is a ${kind}, which is not sent by itself. Name a template that ${kind === 'layout' ? 'has it as its layoutId' : `has {% render '${alias ?? id}' %} in it`}.`,
      );

/** A template of the caller's environment, by id or alias. */
export const findTemplate = async (
  { versions }: Pick<TemplateReader, 'versions'>,
  caller: Pick<Principal, 'workspaceId' | 'livemode'>,
  name: string,
): Promise<TemplateRow | Failure> => (await versions.find(caller, name)) ?? NO_TEMPLATE;

/** Reads the content of a version; by default of the one that is sent. */
export async function findVersion(
  reader: Pick<TemplateReader, 'versions'>,
  caller: Pick<Principal, 'workspaceId' | 'livemode'>,
  name: string,
  version?: number,
): Promise<FoundVersion | Failure> {
  const row = await reader.versions.find(caller, name);
  if (!row) return NO_TEMPLATE;
  return (await reader.versions.read(row, version)) ?? NO_VERSION;
}

/** Lists the templates of the caller's environment, newest first. */
export const listTemplates = (
  { database }: TemplateReader,
  call: Call<unknown, TemplateQuery>,
): Promise<Page<TemplateItemView> | Failure> =>
  listById(call, {
    list: 'templates',
    prefix: 'tpl',
    rows: (range, limit) => readTemplates(database, call.caller, call.query.kind, range, limit),
    item: ({ content, ...row }) => itemOf(row, call.caller.livemode, content),
  });

/** One template with the bodies of the version that is sent. */
export async function templateDetail(
  reader: TemplateReader,
  { caller, params }: TemplateQueryCall,
): Promise<TemplateView | Failure> {
  const found = await findVersion(reader, caller, params.id);
  if (found instanceof Failure) return found;
  const usedBy = await usersOf(reader.database, found.row);
  return viewOf(found.row, caller.livemode, found.content, { usedBy });
}

const VERSION = /^[1-9]\d{0,8}$/;

/** Lists the versions of a template, newest first. */
export async function listVersions(
  reader: TemplateReader,
  { caller, params, query }: Call<{ readonly id: string }, TemplateQuery>,
): Promise<Page<VersionItemView> | Failure> {
  const isPosition = (text: string) => VERSION.test(text);
  const request = { list: `templates/${params.id}/versions`, caller, isPosition, query };
  const after = positionOf(request);
  if (after instanceof Failure) return after;
  const row = await findTemplate(reader, caller, params.id);
  if (row instanceof Failure) return row;
  const below = after === null ? row.latest + 1 : Number(after);
  const rows = await readVersions(reader.database, row.id, below, query.limit + 1);
  return pageOf(
    request,
    rows,
    ({ version }) => `${version}`,
    (version) => versionItemOf(row, version),
  );
}

/** One version with its bodies. */
export async function versionDetail(
  reader: TemplateReader,
  { caller, params }: Call<{ readonly id: string; readonly version: string }>,
): Promise<VersionView | Failure> {
  const row = await findTemplate(reader, caller, params.id);
  if (row instanceof Failure) return row;
  if (!VERSION.test(params.version)) return NO_VERSION;
  const version = await readVersion(reader.database, row.id, Number(params.version));
  return version ? versionOf(row, version) : NO_VERSION;
}
