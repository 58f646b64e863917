import { textFromHtml } from '../../mail/content/text-part.ts';
import type { BatchDeps } from '../emails/commands.ts';
import { defineModule, offered } from '../module.ts';
import { resendRoutes } from './routes.ts';

/** The calls of the package `resend`, upon the acceptance of emails. The API reference leaves them out: they are another interface. */
export const resendModule = defineModule<BatchDeps>({
  name: 'resend',
  pages: resendRoutes,
  open: ({ config, logger }) => ({
    connect: ({ offers }) => ({
      deps: {
        ...offered(offers, 'acceptance'),
        ...{ textFromHtml, baseUrl: config.publicUrl, log: logger, campaigns: () => offers.campaignMail },
      },
    }),
  }),
});
