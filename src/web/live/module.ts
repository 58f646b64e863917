import type { Module } from '../../http/module.ts';
import { createInspector, type Inspector } from './inspector.ts';
import { type InspectorDeps, inspectorRoutes } from './routes.ts';

/** The one connection of each open page, and the live view of the machines. */
export const inspectorModule: Module<InspectorDeps, object, Inspector> = {
  name: 'inspector',
  pages: (deps) => inspectorRoutes(deps),
  open: ({ admission, sessions, database, clock, logger, version }) => ({
    connect({ engine, kinds, roster }) {
      const inspector = createInspector({
        ...admission,
        engine,
        kinds,
        database,
        clock,
        log: logger,
        sessions,
        version,
        roster,
      });
      return {
        api: inspector,
        deps: inspector.deps,
        start: async () => inspector.start(),
        close: () => inspector.stop(),
      };
    },
  }),
};
