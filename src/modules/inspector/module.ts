import { defineModule } from '../module.ts';
import { createInspector } from './inspector.ts';
import { type InspectorDeps, inspectorRoutes } from './routes.ts';

/** The live view of the machines. */
export const inspectorModule = defineModule<InspectorDeps>({
  name: 'inspector',
  pages: (deps) => inspectorRoutes(deps),
  open: ({ admission, sessions, database, clock, logger, version }) => ({
    connect({ engine, kinds, offers, roster }) {
      const inspector = createInspector({
        ...admission,
        ...{ engine, kinds, database, clock, log: logger, sessions, version, roster },
      });
      offers.liveView = inspector;
      return {
        deps: inspector.deps,
        start: async () => inspector.start(),
        close: () => inspector.stop(),
      };
    },
  }),
});
