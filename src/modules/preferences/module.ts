import { defineModule, offered } from '../module.ts';
import { confirmationBirths } from './births.ts';
import { confirmationAsker } from './commands.ts';
import type { PreferenceDeps } from './person.ts';
import { preferenceRoutes } from './routes.ts';

/** The pages on which recipients choose what they get, and confirm it. */
export const preferencesModule = defineModule<PreferenceDeps>({
  name: 'preferences',
  births: [confirmationBirths],
  pages: preferenceRoutes,
  open: ({ config, database, clock, signer, sealer }) => ({
    connect({ offers }) {
      const { publicUrl } = config;
      const acceptance = offered(offers, 'acceptance');
      return {
        deps: { database, signer, sealer, publicUrl, tellsSes: config.transport.includes('ses') },
        duties: [confirmationAsker({ database, clock, signer, publicUrl, acceptance })],
      };
    },
  }),
});
