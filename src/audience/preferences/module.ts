import type { Module } from '../../http/module.ts';
import type { EmailsApi } from '../../sending/emails/api.ts';
import { confirmationAsker } from './commands.ts';
import { confirmationInsertRule } from './insert-rule.ts';
import type { PreferenceDeps } from './person.ts';
import { preferenceRoutes } from './routes.ts';

/** The pages on which recipients choose what they get, and confirm it. */
export const preferencesModule: Module<PreferenceDeps, Pick<EmailsApi, 'acceptance'>> = {
  name: 'preferences',
  insertRules: [confirmationInsertRule],
  pages: preferenceRoutes,
  open: ({ config, database, clock, signer, sealer }) => ({
    connect({ engine }, { acceptance }) {
      const { publicUrl } = config;
      return {
        api: undefined,
        deps: { database, engine, signer, sealer, publicUrl, tellsSes: config.transport.includes('ses') },
        duties: [confirmationAsker({ database, clock, signer, publicUrl, acceptance })],
      };
    },
  }),
};
