import { groupOf, type WantedMail } from '../../http/listen/waiting.ts';
import type { Module } from '../../http/module.ts';
import type { WaitingRoom } from '../../platform/async/waiting-room.ts';
import type { CapturedApi } from './api.ts';
import { capturedPruner } from './captured-pruner.ts';
import type { CapturedReader } from './queries.ts';
import { capturedPages, capturedRoutes } from './routes.ts';
import { spamAssassinAt } from './spam-assassin.ts';
import { capturedWaitingRoom } from './waiting.ts';

/** Captured mail: live email that was stored here instead of sent. */
export const capturedModule: Module<
  CapturedReader & { readonly waiting: WaitingRoom<WantedMail> },
  object,
  CapturedApi
> = {
  name: 'captured',
  tags: [
    { segment: 'captured', name: 'Captured', description: 'Live email that was captured instead of sent.' },
  ],
  routes: capturedRoutes,
  pages: capturedPages,
  open: ({ config, database, reads, clock, mailReader }) => ({
    connect() {
      const waiting = capturedWaitingRoom(database, () => clock.now());
      return {
        api: { mailCaptured: (workspaceId) => waiting.came(groupOf(workspaceId, true)) },
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
};
