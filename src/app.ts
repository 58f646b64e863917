import { dashboardRoutes } from './dashboard/routes.ts';
import type { Sealer } from './db/seal.ts';
import type { Engine } from './engine/engine.ts';
import { type App, mount } from './http/mount.ts';
import type { HttpDeps } from './http/pipeline.ts';
import type { Route } from './http/route.ts';
import { apiKeyRoutes } from './modules/api-keys/routes.ts';
import type { CapturedReader } from './modules/captured/queries.ts';
import { capturedRoutes } from './modules/captured/routes.ts';
import { docsRoutes } from './modules/docs/routes.ts';
import type { DomainCommands } from './modules/domains/commands.ts';
import { domainRoutes } from './modules/domains/routes.ts';
import type { BatchDeps } from './modules/emails/batch.ts';
import { batchRoutes } from './modules/emails/batch-routes.ts';
import { emailRoutes } from './modules/emails/routes.ts';
import type { EventReader } from './modules/events/queries.ts';
import { eventRoutes } from './modules/events/routes.ts';
import { type InspectorDeps, inspectorRoutes } from './modules/inspector/routes.ts';
import { type SesCallbackDeps, sesRoutes } from './modules/ses/routes.ts';
import { suppressionRoutes } from './modules/suppressions/routes.ts';
import { type SystemDeps, systemRoutes } from './modules/system/routes.ts';
import { type TrackingDeps, trackingRoutes } from './modules/tracking/routes.ts';
import type { WebhookCommands } from './modules/webhooks/commands.ts';
import { webhookRoutes } from './modules/webhooks/routes.ts';
import { workspaceRoutes } from './modules/workspace/routes.ts';

/** What the modules are built from; each takes what it names of it. */
export interface ModuleDeps extends BatchDeps, CapturedReader, EventReader, WebhookCommands, SystemDeps {
  readonly engine: Engine;
  readonly sealer: Sealer;
  readonly inspector: InspectorDeps;
  readonly tracking: TrackingDeps;
  readonly ses: SesCallbackDeps;
  readonly domains: DomainCommands;
}

/** Every endpoint of the service, one module a line. */
export const allRoutes = (deps: ModuleDeps): readonly Route[] => [
  ...systemRoutes(deps),
  ...workspaceRoutes(deps),
  ...emailRoutes(deps),
  ...batchRoutes(deps),
  ...capturedRoutes(deps),
  ...suppressionRoutes(deps),
  ...domainRoutes(deps.domains),
  ...eventRoutes(deps),
  ...webhookRoutes(deps),
  ...apiKeyRoutes(deps),
];

/** The application behind the HTTP pipeline. It never listens by itself. */
export function createApp(deps: ModuleDeps & HttpDeps): App {
  const documented = allRoutes(deps);
  return mount(
    [
      ...documented,
      ...docsRoutes({ documented, baseUrl: deps.baseUrl }),
      ...trackingRoutes(deps.tracking),
      ...sesRoutes(deps.ses),
      ...dashboardRoutes(),
      ...inspectorRoutes(deps.inspector),
    ],
    deps,
  );
}
