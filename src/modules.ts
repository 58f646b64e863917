import { dashboardModule } from './dashboard/module.ts';
import type { Engine } from './engine/engine.ts';
import type { Registration } from './engine/running-kind.ts';
import { forMembers, type Route } from './http/route.ts';
import { analyticsModule } from './modules/analytics/module.ts';
import { apiKeysModule } from './modules/api-keys/module.ts';
import { audiencesModule } from './modules/audiences/module.ts';
import { auditLogModule } from './modules/audit-log/module.ts';
import { billingModule } from './modules/billing/module.ts';
import { campaignsModule } from './modules/campaigns/module.ts';
import { capturedModule } from './modules/captured/module.ts';
import { certificatesModule } from './modules/certificates/module.ts';
import { changesModule } from './modules/changes/module.ts';
import { importsModule } from './modules/contacts/imports/module.ts';
import { contactsModule } from './modules/contacts/module.ts';
import { docsModule } from './modules/docs/module.ts';
import { domainsModule } from './modules/domains/module.ts';
import { emailsModule } from './modules/emails/module.ts';
import { eventsModule } from './modules/events/module.ts';
import { flowsModule } from './modules/flows/module.ts';
import { inboundModule } from './modules/inbound/module.ts';
import { inspectorModule } from './modules/inspector/module.ts';
import { mcpModule } from './modules/mcp/module.ts';
import { membersModule } from './modules/members/module.ts';
import type { ConnectedModule, Module, ModuleParts, Offers } from './modules/module.ts';
import { preferencesModule } from './modules/preferences/module.ts';
import { resendModule } from './modules/resend/module.ts';
import { serviceEmailsModule } from './modules/service-emails/module.ts';
import { sesModule } from './modules/ses/module.ts';
import { submissionModule } from './modules/submission/module.ts';
import { suppressionsModule } from './modules/suppressions/module.ts';
import type { KnownInstances } from './modules/system/commands.ts';
import { systemModule } from './modules/system/module.ts';
import { templatesModule } from './modules/templates/module.ts';
import { testClocksModule } from './modules/test-clocks/module.ts';
import { trackingModule } from './modules/tracking/module.ts';
import { usageModule } from './modules/usage/module.ts';
import { webhooksModule } from './modules/webhooks/module.ts';
import { workspaceModule } from './modules/workspace/module.ts';

/**
 * Every module of the service. The documentation shows them in this order, and they are connected in it: a module that
 * offers something to others stands before them.
 */
export const MODULES: readonly Module[] = [
  domainsModule,
  templatesModule,
  emailsModule,
  testClocksModule,
  capturedModule,
  serviceEmailsModule,
  webhooksModule,
  eventsModule,
  resendModule,
  analyticsModule,
  contactsModule,
  importsModule,
  audiencesModule,
  campaignsModule,
  flowsModule,
  suppressionsModule,
  apiKeysModule,
  workspaceModule,
  membersModule,
  auditLogModule,
  billingModule,
  mcpModule,
  systemModule,
  usageModule,
  trackingModule,
  preferencesModule,
  sesModule,
  inboundModule,
  submissionModule,
  docsModule,
  dashboardModule,
  inspectorModule,
  changesModule,
  certificatesModule,
];

/** The kinds of all modules. */
export const MODULE_KINDS = MODULES.flatMap(({ kinds = [] }) => kinds);

/** The checks of what modules keep beside their actors. */
export const MODULE_AUDITS = MODULES.flatMap(({ audit }) => audit ?? []);

/** The groups of the documentation. */
export const MODULE_TAGS = MODULES.flatMap(({ tags = [] }) => tags);

/** What a module is told of all modules. */
const EVERY_MODULES = {
  kinds: MODULE_KINDS,
  tags: MODULE_TAGS,
  templateUses: MODULES.flatMap(({ templateUses = [] }) => templateUses),
  warnings: MODULES.flatMap(({ warnings = [] }) => warnings),
  audienceUses: MODULES.flatMap(({ audienceUses = [] }) => audienceUses),
};

/** Every documented endpoint, without the dependencies that its handler needs: for tools that only list them. */
export const documentedRoutes = (): readonly Route[] =>
  MODULES.flatMap((module) => module.routes?.({} as never) ?? []);

/**
 * Adds what other modules create and write in the commits of a kind, such as the webhook deliveries of an email, and the activity
 * of a contact.
 */
function withOthers(registration: Registration): Registration {
  const { kind } = registration;
  const children = MODULES.flatMap((module) => module.children ?? []).filter(({ of }) => of === kind.name);
  const follows = MODULES.flatMap((module) => module.follows ?? []).filter(({ of }) => of === kind.name);
  const births = MODULES.flatMap((module) => module.births ?? []).filter(({ of }) => of === kind.name);
  if (children.length === 0 && follows.length === 0 && births.length === 0) return registration;
  const { spawn } = kind;
  return {
    ...registration,
    kind: {
      ...kind,
      spawn: { ...spawn, rules: births },
      children: [...kind.children, ...children.map(({ child }) => child)],
      followers: follows.map(({ write }) => write),
    },
  };
}

/** The opened modules. The engine can be built from their kinds; nothing runs yet. */
export interface OpenModules {
  readonly registrations: readonly Registration[];
  connect(engine: Engine, roster: KnownInstances): ConnectedModules;
}

/** The modules, connected to the engine. */
export interface ConnectedModules {
  readonly routes: readonly Route[];
  readonly offers: Offers;
  readonly connected: readonly ConnectedModule<never>[];
}

/** Opens every module. `connect` takes the engine that was built from their kinds. */
export function openModules(parts: ModuleParts): OpenModules {
  const opened = MODULES.map((module) => ({ module, open: module.open(parts) }));
  return {
    registrations: opened.flatMap(({ open }) => open.registrations ?? []).map(withOthers),
    connect(engine, roster) {
      const offers: Offers = {};
      const documented: Route[] = [];
      const pages: Route[] = [];
      const connected: ConnectedModule<never>[] = [];
      for (const { module, open } of opened) {
        const wired = open.connect({ engine, roster, offers, documented, ...EVERY_MODULES });
        documented.push(...(module.routes?.(wired.deps) ?? []));
        pages.push(...(module.pages?.(wired.deps) ?? []));
        connected.push(wired);
      }
      return { routes: [...documented, ...documented.flatMap(forMembers), ...pages], offers, connected };
    },
  };
}
