import { defineModule } from '../module.ts';
import { capturedPruner } from './captured-pruner.ts';
import type { CapturedReader } from './queries.ts';
import { capturedPages, capturedRoutes } from './routes.ts';
import { spamAssassinAt } from './spam-assassin.ts';

/** Captured mail: live email that was stored here instead of sent. */
export const capturedModule = defineModule<CapturedReader>({
  name: 'captured',
  tags: [
    { segment: 'captured', name: 'Captured', description: 'Live email that stayed here instead of leaving.' },
  ],
  routes: capturedRoutes,
  pages: capturedPages,
  open: ({ config, database, clock, mailReader }) => ({
    connect: () => ({
      deps: {
        database,
        mailReader,
        spamAssassin: config.spamassassinUrl === null ? null : spamAssassinAt(config.spamassassinUrl),
      },
      duties: [capturedPruner({ database, clock })],
    }),
  }),
});
