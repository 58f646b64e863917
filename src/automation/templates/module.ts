import type { Module } from '../../http/module.ts';
import { createLiquidRenderer } from '../../mail/liquid/liquid-renderer.ts';
import type { TemplatesApi } from './api.ts';
import { templateInsertRule } from './insert-rule.ts';
import { templateContents } from './render/contents.ts';
import { templateFiller } from './render/fill.ts';
import { templateRenderer } from './render/rendering.ts';
import { type TemplateDeps, templateRoutes } from './routes.ts';
import { versionsOf } from './versions.ts';

/** Templates: what emails say, written once, in versions, with names in place of what differs. */
export const templatesModule: Module<
  TemplateDeps,
  Pick<TemplateDeps, 'uses' | 'acceptance' | 'isMember'>,
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
  open: ({ config, database, clock, markdown }) => ({
    connect(_, { uses, acceptance, isMember }) {
      const liquid = createLiquidRenderer(clock.monotonic);
      const versions = versionsOf(database);
      const render = templateRenderer(database, liquid, config.publicUrl);
      return {
        api: {
          fillTemplate: templateFiller({ versions }, render),
          templateContents: templateContents({ liquid, markdown, versions }, render),
        },
        deps: {
          ...{ database, versions, liquid, markdown, render, uses },
          acceptance,
          isMember,
          previewsPerMinute: config.rateLimitPreview,
        },
        close: () => liquid.close(),
      };
    },
  }),
};
