import type { Module } from '../../http/module.ts';
import { createLiquidRenderer } from '../../mail/liquid/liquid-renderer.ts';
import type { AssetUse } from '../assets/api.ts';
import type { TemplatesApi } from './api.ts';
import { templateInsertRule } from './insert-rule.ts';
import { templateContents } from './render/contents.ts';
import { templateFiller } from './render/fill.ts';
import { templateRenderer } from './render/rendering.ts';
import { type TemplateDeps, templateRoutes } from './routes.ts';
import { versionsOf } from './versions.ts';

/** Images in the published and the newest version of a template. */
export const templateShowsImages: AssetUse = {
  type: 'template',
  uses: `select distinct t.id, t.name, t.livemode, f.file
    from template_versions v join templates t on t.id = v.template_id and v.version in (t.version, t.latest)
      cross join lateral unnest(images_in(v.content)) f(file)
    where t.workspace_id = $1 and images_in(v.content) && $2 and f.file = any($2)`,
  // Any version may be published again.
  keeps: `exists (select from template_versions v join templates t on t.id = v.template_id
    where images_in(v.content) && array[a.file] and t.workspace_id = a.workspace_id)`,
};

/** Templates: what emails say, written once, in versions, with names in place of what differs. */
export const templatesModule: Module<
  TemplateDeps,
  Pick<TemplateDeps, 'uses' | 'acceptance' | 'isMember' | 'check'>,
  TemplatesApi
> = {
  name: 'templates',
  tags: [
    {
      segment: 'templates',
      name: 'Templates',
      description: 'Content for many emails, with variables. The language is described at /docs/templates.',
    },
  ],
  routes: templateRoutes,
  insertRules: [templateInsertRule],
  open: ({ config, database, clock, markdown, mailReader }) => ({
    connect(_, { uses, acceptance, isMember, check }) {
      const liquid = createLiquidRenderer(clock.monotonic);
      const versions = versionsOf(database);
      const render = templateRenderer(database, liquid, config.publicUrl);
      return {
        api: {
          fillTemplate: templateFiller({ versions }, render),
          templateContents: templateContents({ liquid, markdown, versions }, render),
        },
        deps: {
          database,
          versions,
          liquid,
          markdown,
          render,
          uses,
          mailReader,
          acceptance,
          isMember,
          check,
          previewsPerMinute: config.rateLimitPreview,
          publicUrl: config.publicUrl,
        },
        close: () => liquid.close(),
      };
    },
  }),
};
