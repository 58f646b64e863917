import type { Module } from '../module.ts';
import type { SystemApi } from './api.ts';
import { countEngine, countInstances, openMetricsServer } from './metrics.ts';
import { type SystemDeps, systemRoutes } from './routes.ts';

/** The health of the service, and its metrics. */
export const systemModule: Module<SystemDeps, Pick<SystemDeps, 'readLogLag'>, SystemApi> = {
  name: 'system',
  tags: [{ segment: 'health', name: 'System', description: 'The state of the service itself.' }],
  routes: systemRoutes,
  open: ({ config, database, clock, version, metrics }) => ({
    connect({ engine, roster }, { readLogLag }) {
      let isDraining = false;
      if (metrics) countEngine(metrics, engine);
      if (metrics) countInstances(metrics, config.roles, roster);
      let server: ReturnType<typeof openMetricsServer> | null = null;
      return {
        api: {
          drain() {
            isDraining = true;
          },
        },
        deps: {
          readLogLag,
          version,
          database,
          clock,
          engine,
          roster,
          roles: config.roles,
          startedAt: clock.monotonic(),
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
};
