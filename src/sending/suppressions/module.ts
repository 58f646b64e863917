import type { Module } from '../../http/module.ts';
import { createSesApi } from '../../mail/transport/ses/ses-api.ts';
import type { SuppressionCommands } from './commands.ts';
import type { SuppressionLister } from './queries.ts';
import { suppressionRoutes } from './routes.ts';
import { sesRemovalTeller } from './ses-removals.ts';

/** Addresses that get no more mail. */
export const suppressionsModule: Module<SuppressionCommands & SuppressionLister> = {
  name: 'suppressions',
  tags: [{ segment: 'suppressions', name: 'Suppressions', description: 'Addresses that get no mail.' }],
  routes: suppressionRoutes,
  open: ({ config, database, reads, signer, sealer, clock, logger }) => ({
    connect() {
      const { sesRegion: region, awsAccessKeyId: accessKeyId, awsSecretAccessKey: secretAccessKey } = config;
      const usesSes = config.transport.includes('ses') && region && accessKeyId && secretAccessKey;
      const api = usesSes
        ? createSesApi({ region, accessKeyId, secretAccessKey, endpoint: config.sesEndpoint, now: clock.now })
        : null;
      return {
        api: undefined,
        deps: { database, reads, signer, sealer, tellsSes: api !== null },
        duties: api ? [sesRemovalTeller({ database, clock, sealer, logger, api })] : [],
      };
    },
  }),
};
