import { defineModule } from '../module.ts';
import { countEngine, openMetricsServer } from './metrics.ts';
import { type SystemDeps, systemRoutes } from './routes.ts';

/** The health of the service, and its metrics. */
export const systemModule = defineModule<SystemDeps>({
  name: 'system',
  tags: [{ segment: 'health', name: 'System', description: 'How the service itself is doing.' }],
  routes: systemRoutes,
  open: ({ config, database, clock, version, metrics }) => ({
    connect({ engine, offers }) {
      let isDraining = false;
      offers.drain = () => {
        isDraining = true;
      };
      if (metrics) countEngine(metrics, engine);
      let server: ReturnType<typeof openMetricsServer> | null = null;
      return {
        deps: {
          ...{ version, database, clock, engine, startedAt: clock.monotonic() },
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
