import type { Module } from '../../http/module.ts';
import type { DomainApi } from './api.ts';
import type { DomainCommands } from './commands.ts';
import { domainPruner } from './domain-pruner.ts';
import { domainKind } from './kind.ts';
import { openDomains } from './open.ts';
import { missingTransports } from './queries.ts';
import { domainRoutes } from './routes.ts';
import { cachedSendingDomains } from './sending-domains.ts';

/** The functions of other modules that domains need. */
type DomainNeeds = Pick<DomainCommands, 'releaseWaiting'>;

/** The domains that live email is sent from. */
export const domainsModule: Module<DomainCommands, DomainNeeds, DomainApi> = {
  name: 'domains',
  tags: [
    {
      segment: 'domains',
      name: 'Domains',
      description: 'Add the domains that send live email.',
    },
  ],
  kinds: [
    {
      kind: domainKind,
      // Requests wait for the outcome of a check.
      carriedOutBy: 'anybody',
      permission: 'domains:read',
      resource: 'domains',
      isLongLived: true,
      label: { title: 'a.name', facts: `'{}'` },
    },
  ],
  routes: domainRoutes,
  open({ database, clock, sealer, config, logger }) {
    const { kind, commands } = openDomains({ database, clock, sealer, config });
    return {
      registrations: [kind],
      connect: ({ engine }, { releaseWaiting }) => {
        return {
          api: { findSendingDomain: cachedSendingDomains(database, engine, clock.monotonic) },
          deps: { ...commands, engine, releaseWaiting },
          duties: [domainPruner({ database, clock })],
          // Mail of domains whose transport is not enabled is held; the log says so at the start.
          async start() {
            for (const missing of await missingTransports(database, config.transport))
              logger.warn(
                missing,
                `Domains have chosen ${missing.provider}, which TRANSPORT does not enable. Their mail is held until it does.`,
              );
          },
        };
      },
    };
  },
};
