import type { WaitingRoom } from '../../async/waiting-room.ts';
import { groupOf, type WantedMail } from '../../http/waiting.ts';
import { defineModule } from '../module.ts';
import { capturedPruner } from './captured-pruner.ts';
import type { CapturedReader } from './queries.ts';
import { capturedPages, capturedRoutes } from './routes.ts';
import { spamAssassinAt } from './spam-assassin.ts';
import { capturedWaitingRoom } from './waiting.ts';

/** Captured mail: live email that was stored here instead of sent. */
export const capturedModule = defineModule<CapturedReader & { readonly waiting: WaitingRoom<WantedMail> }>({
  name: 'captured',
  tags: [
    { segment: 'captured', name: 'Captured', description: 'Live email that stayed here instead of leaving.' },
  ],
  routes: capturedRoutes,
  pages: capturedPages,
  open: ({ config, database, reads, clock, mailReader }) => ({
    connect({ offers }) {
      const waiting = capturedWaitingRoom(database, () => clock.now());
      offers.mailCaptured = (workspaceId) => waiting.came(groupOf(workspaceId, true));
      return {
        deps: {
          ...{ database, reads },
          mailReader,
          waiting,
          spamAssassin: config.spamassassinUrl === null ? null : spamAssassinAt(config.spamassassinUrl),
        },
        duties: [capturedPruner({ database, clock, config })],
        endWaits: () => waiting.close(),
      };
    },
  }),
});
