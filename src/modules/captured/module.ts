import { defineModule } from '../module.ts';
import { capturedPruner } from './captured-pruner.ts';
import type { CapturedReader } from './queries.ts';
import { capturedFrames, capturedRoutes } from './routes.ts';

/** Captured mail: live email that was stored here instead of sent. */
export const capturedModule = defineModule<CapturedReader>({
  name: 'captured',
  tags: [
    { segment: 'captured', name: 'Captured', description: 'Live email that stayed here instead of leaving.' },
  ],
  routes: capturedRoutes,
  pages: capturedFrames,
  open: ({ database, clock, mailReader }) => ({
    connect: () => ({ deps: { database, mailReader }, duties: [capturedPruner({ database, clock })] }),
  }),
});
