import type { Module } from '../../http/module.ts';
import { textFromHtml } from '../../mail/content/text-part.ts';
import type { EmailsApi } from '../emails/api.ts';
import type { BatchDeps } from '../emails/commands.ts';
import { resendRoutes } from './routes.ts';

type ResendNeeds = Pick<EmailsApi, 'acceptance'> & Required<Pick<BatchDeps, 'campaigns'>>;

/**
 * The calls of the package `resend`, upon the acceptance of emails. The API reference leaves them out: they
 * are another interface.
 */
export const resendModule: Module<BatchDeps, ResendNeeds> = {
  name: 'resend',
  pages: resendRoutes,
  open: ({ config, logger }) => ({
    connect: (_, { acceptance, campaigns }) => ({
      api: undefined,
      deps: { ...acceptance, textFromHtml, baseUrl: config.publicUrl, log: logger, campaigns },
    }),
  }),
};
