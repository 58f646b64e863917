import type { Module } from '../../http/module.ts';
import { later } from '../../platform/async/later.ts';
import type { WebhooksApi } from '../webhooks/api.ts';
import type { ReceivedApi } from './api.ts';
import { receivedKind, receivedMessages } from './kind.ts';
import { ReceivedPerformer } from './performer.ts';
import { receivedPruner } from './received-pruner.ts';
import { type ReceivedDeps, receivedPages, receivedRoutes } from './routes.ts';
import { storeArrival } from './store.ts';

/** Received mail: what inbound routes have taken. */
export const receivedModule: Module<ReceivedDeps, Pick<WebhooksApi, 'posting'>, ReceivedApi> = {
  name: 'received',
  tags: [
    { segment: 'received', name: 'Received', description: 'Email that your inbound routes have taken.' },
  ],
  kinds: [
    {
      kind: receivedKind,
      permission: 'emails:read',
      resource: 'received',
      label: { title: `coalesce(a.summary ->> 'subject', '')`, facts: `array[a.recipient]` },
    },
  ],
  routes: receivedRoutes,
  pages: receivedPages,
  open({ database, reads, clock, sealer, bodies, config, mailReader }) {
    const { needed, provide } = later<Pick<WebhooksApi, 'posting'>>();
    const posting = () => needed().posting;
    return {
      registrations: [receivedMessages(new ReceivedPerformer({ database, clock, sealer, posting }))],
      connect({ engine }, needs) {
        provide(needs);
        const deps = { database, reads, bodies, mailReader, engine, clock };
        return {
          api: { receive: (arrival) => storeArrival(deps, arrival) },
          deps,
          duties: [receivedPruner({ database, clock, config })],
        };
      },
    };
  },
};
