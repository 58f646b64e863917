import { createLiquidRenderer } from '../../mail/liquid/liquid-renderer.ts';
import { defineModule, offered } from '../module.ts';
import { templateBirths } from './births.ts';
import { templateContents } from './contents.ts';
import { templateFiller } from './fill.ts';
import { templateRenderer } from './rendering.ts';
import { type TemplateDeps, templateRoutes } from './routes.ts';
import { versionsOf } from './versions.ts';

/** Templates: what emails say, written once, in versions, with names in place of what differs. */
export const templatesModule = defineModule<TemplateDeps>({
  name: 'templates',
  tags: [
    {
      segment: 'templates',
      name: 'Templates',
      description: 'What emails say, written once. The language is described at /docs/templates.',
    },
  ],
  routes: templateRoutes,
  births: [templateBirths],
  open: ({ config, database, clock, markdown }) => ({
    connect({ offers, templateUses }) {
      const liquid = createLiquidRenderer(clock.monotonic);
      const versions = versionsOf(database);
      const render = templateRenderer(database, liquid, config.publicUrl);
      offers.fillTemplate = templateFiller({ versions }, render);
      offers.templateContents = templateContents({ liquid, markdown, versions }, render);
      return {
        deps: {
          ...{ database, versions, liquid, markdown, render, uses: templateUses },
          acceptance: () => offered(offers, 'acceptance'),
          isMember: async (workspaceId, addressKey) =>
            (await offers.isMember?.(workspaceId, addressKey)) ?? false,
          previewsPerMinute: config.rateLimitPreview,
        },
        close: () => liquid.close(),
      };
    },
  }),
});
