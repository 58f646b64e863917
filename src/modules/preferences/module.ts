import { defineModule } from '../module.ts';
import type { PreferenceDeps } from './person.ts';
import { preferenceRoutes } from './routes.ts';

/** The pages on which recipients choose what they get, and confirm it. */
export const preferencesModule = defineModule<PreferenceDeps>({
  name: 'preferences',
  pages: preferenceRoutes,
  open: ({ config, database, signer, sealer }) => ({
    connect: () => ({
      deps: {
        ...{ database, signer, sealer, publicUrl: config.publicUrl },
        tellsSes: config.transport.includes('ses'),
      },
    }),
  }),
});
