import { defineModule } from '../module.ts';
import { countEngine, countInstances, openMetricsServer } from './metrics.ts';
import { type SystemDeps, systemRoutes } from './routes.ts';

/** The health of the service, and its metrics. */
export const systemModule = defineModule<SystemDeps>({
  name: 'system',
  tags: [{ segment: 'health', name: 'System', description: 'How the service itself is doing.' }],
  routes: systemRoutes,
  open: ({ config, database, clock, version, metrics }) => ({
    connect({ engine, offers, roster }) {
      let isDraining = false;
      offers.drain = () => {
        isDraining = true;
      };
      if (metrics) countEngine(metrics, engine);
      if (metrics) countInstances(metrics, config.roles, roster);
      let server: ReturnType<typeof openMetricsServer> | null = null;
      return {
        deps: {
          ...{ version, database, clock, engine, roster, roles: config.roles, startedAt: clock.monotonic() },
          isDraining: () => isDraining,
        },
        async start() {
          if (metrics && config.metricsPort !== null)
            server = openMetricsServer(metrics, { hostname: config.host, port: config.metricsPort });
        },
        close: () => server?.stop(true),
      };
    },
  }),
});
