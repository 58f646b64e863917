import { groupOf } from '../../http/listen/waiting.ts';
import type { Module } from '../../http/module.ts';
import type { ChecksApi } from '../checks/api.ts';
import type { CapturedApi } from './api.ts';
import { capturedPruner } from './captured-pruner.ts';
import { type CapturedDeps, capturedPages, capturedRoutes } from './routes.ts';
import { capturedWaitingRoom } from './waiting.ts';

/** Captured mail: live email that was stored here instead of sent. */
export const capturedModule: Module<CapturedDeps, Pick<ChecksApi, 'check'>, CapturedApi> = {
  name: 'captured',
  tags: [
    { segment: 'captured', name: 'Captured', description: 'Live email that was captured instead of sent.' },
  ],
  routes: capturedRoutes,
  pages: capturedPages,
  open: ({ config, database, reads, clock, mailReader, spamAssassin }) => ({
    connect(_, { check }) {
      const waiting = capturedWaitingRoom(database, () => clock.now());
      return {
        api: { mailCaptured: (workspaceId) => waiting.came(groupOf(workspaceId, true)) },
        deps: {
          database,
          reads,
          mailReader,
          waiting,
          spamAssassin,
          check,
          previewsPerMinute: config.rateLimitPreview,
        },
        duties: [capturedPruner({ database, clock, config })],
        endWaits: () => waiting.close(),
      };
    },
  }),
};
