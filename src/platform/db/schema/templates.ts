import { sql } from 'drizzle-orm';
import { boolean, date, index, integer, json, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { keyOf, moment, octets, refersTo, textC } from './columns.ts';
import { workspaces } from './workspaces.ts';

/**
 * Templates belong to one environment. `version` is sent, `latest` is the newest and may be a draft;
 * `revision` increases with every change, so that two changes at once are detected.
 */
export const templates = pgTable(
  'templates',
  {
    id: textC('id').primaryKey(),
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    name: text('name').notNull(),
    alias: textC('alias'),
    kind: text('kind', { enum: ['template', 'layout', 'partial'] })
      .notNull()
      .default('template'),
    version: integer('version').notNull(),
    latest: integer('latest').notNull(),
    revision: integer('revision').notNull(),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
  },
  (t) => [
    refersTo(t.workspaceId, workspaces.id),
    uniqueIndex('templates_by_alias')
      .on(t.workspaceId, t.livemode, t.alias)
      .where(sql`${t.alias} is not null`),
    index('templates_by_workspace').on(t.workspaceId, t.livemode, t.id.desc().nullsFirst()),
  ],
);

/** The content of a template. A version is written once and never changed. */
export const templateVersions = pgTable(
  'template_versions',
  {
    templateId: textC('template_id').notNull(),
    version: integer('version').notNull(),
    content: json('content').notNull(),
    /** The ids of the layouts and partials that it was made of. */
    uses: text('uses').array().notNull().default(sql`'{}'`),
    createdAt: moment('created_at').notNull(),
  },
  (t) => [
    keyOf(t.templateId, t.version),
    refersTo(t.templateId, templates.id).onDelete('cascade'),
    index('template_versions_by_use').using('gin', t.uses).where(sql`${t.uses} <> '{}'`),
  ],
);

/**
 * Images, which both environments of a workspace share. `livemode`: uploaded in the live environment, so that
 * live mail may show it. `file` is the hash of the content with the ending of its format, and the last part
 * of the public address.
 */
export const assets = pgTable(
  'assets',
  {
    id: textC('id').primaryKey(),
    workspaceId: textC('workspace_id').notNull(),
    livemode: boolean('livemode').notNull(),
    file: textC('file').notNull(),
    filename: text('filename').notNull(),
    contentType: text('content_type', {
      enum: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'],
    }).notNull(),
    width: integer('width').notNull(),
    height: integer('height').notNull(),
    /** In octets. */
    size: integer('size').notNull(),
    /** The last day (UTC) on which the image was read at its address. */
    lastShownOn: date('last_shown_on', { mode: 'string' }),
    createdAt: moment('created_at').notNull(),
    /** The key of its octets in the body store; null where they are in `asset_contents`. */
    bodyKey: textC('body_key'),
    /**
     * When it was deleted, or found in use since: lists hide it, and its address serves it, for mail that is
     * on its way.
     */
    deletedAt: moment('deleted_at'),
  },
  (t) => [
    refersTo(t.workspaceId, workspaces.id),
    uniqueIndex('assets_by_content').on(t.workspaceId, t.file),
    index('assets_by_file').on(t.file),
    index('assets_by_workspace').on(t.workspaceId, t.id.desc().nullsFirst()),
    index('assets_by_body').on(t.workspaceId, t.bodyKey).where(sql`${t.bodyKey} is not null`),
    index('assets_by_deletion').on(t.deletedAt).where(sql`${t.deletedAt} is not null`),
  ],
);

/** The octets of images that lie in the database, apart from the rows that lists read. */
export const assetContents = pgTable(
  'asset_contents',
  {
    assetId: textC('asset_id').primaryKey(),
    content: octets('content').notNull(),
  },
  (t) => [refersTo(t.assetId, assets.id).onDelete('cascade')],
);
