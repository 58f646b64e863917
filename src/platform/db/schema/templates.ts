import { sql } from 'drizzle-orm';
import { boolean, index, integer, json, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { keyOf, moment, refersTo, textC } from './columns.ts';
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
    createdAt: moment('created_at').notNull(),
  },
  (t) => [keyOf(t.templateId, t.version), refersTo(t.templateId, templates.id).onDelete('cascade')],
);
