import { hostname } from 'node:os';
import type { Module } from '../../http/module.ts';
import { later } from '../../platform/async/later.ts';
import type { WebhooksApi } from '../webhooks/api.ts';
import { answerInsertRule } from './answer.ts';
import type { ReceivedApi } from './api.ts';
import { ContentWriter } from './content-writer.ts';
import type { ForwardDeps } from './forward.ts';
import { receivedKind, receivedMessages } from './kind.ts';
import { ReceivedPerformer } from './performer.ts';
import { receivedPruner } from './received-pruner.ts';
import { type ReceivedDeps, receivedPages, receivedRoutes } from './routes.ts';
import { storeArrival } from './store.ts';

/** The functions of other modules that received mail needs. */
interface ReceivedNeeds
  extends Pick<WebhooksApi, 'posting'>,
    Pick<ReceivedDeps, 'testClocks' | 'acceptance'>,
    Pick<ForwardDeps, 'mayForward'> {}

/** Received mail: what inbound routes have taken. */
export const receivedModule: Module<ReceivedDeps, ReceivedNeeds, ReceivedApi> = {
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
  insertRules: [answerInsertRule],
  routes: receivedRoutes,
  pages: receivedPages,
  open({ database, reads, clock, sealer, signer, bodies, config, mailReader, spamFilter }) {
    const { needed, provide } = later<ReceivedNeeds>();
    const posting = () => needed().posting;
    const serverName = config.ehloName ?? hostname();
    const forwarding = (): ForwardDeps => {
      const { acceptance, mayForward } = needed();
      return {
        database,
        bodies,
        signer,
        serverName,
        now: clock.now,
        mayForward,
        acceptance: acceptance(),
      };
    };
    const performer = new ReceivedPerformer({ database, clock, sealer, posting, forwarding });
    return {
      registrations: [receivedMessages(performer)],
      connect({ engine }, needs) {
        provide(needs);
        const { testClocks, acceptance } = needs;
        const deps = {
          database,
          reads,
          bodies,
          mailReader,
          engine,
          clock,
          signer,
          spamFilter,
          testClocks,
          acceptance,
          contents: new ContentWriter(database),
        };
        return {
          api: { receive: (arrival) => storeArrival(deps, arrival) },
          deps,
          duties: [receivedPruner({ database, clock, config })],
        };
      },
    };
  },
};
