import { apiKeysModule } from './accounts/api-keys/module.ts';
import { auditLogModule } from './accounts/audit-log/module.ts';
import { billingModule } from './accounts/billing/module.ts';
import { membersModule } from './accounts/members/module.ts';
import { requestLogModule } from './accounts/request-log/module.ts';
import { usageModule } from './accounts/usage/module.ts';
import { workspaceModule } from './accounts/workspace/module.ts';
import { audiencesModule } from './audience/audiences/module.ts';
import { importsModule } from './audience/contacts/imports/module.ts';
import { contactsModule } from './audience/contacts/module.ts';
import { preferencesModule } from './audience/preferences/module.ts';
import { trackingModule } from './audience/visits/module.ts';
import { assetBodies } from './automation/assets/asset-bodies.ts';
import { assetsModule } from './automation/assets/module.ts';
import { campaignsModule } from './automation/campaigns/module.ts';
import { flowsModule } from './automation/flows/module.ts';
import { templatesModule } from './automation/templates/module.ts';
import type { Registration } from './engine/runtime/running-kind.ts';
import { certificatesModule } from './http/certificates/module.ts';
import type { Module, ModuleKind, OpenModule, Tag } from './http/module.ts';
import type { Route } from './http/request/route.ts';
import { systemModule } from './http/system/module.ts';
import type { BodyHolders } from './platform/bodies/holder.ts';
import { analyticsModule } from './sending/analytics/module.ts';
import { capturedModule } from './sending/captured/module.ts';
import { checksModule } from './sending/checks/module.ts';
import { domainsModule } from './sending/domains/module.ts';
import { emailBodies } from './sending/emails/bodies/email-bodies.ts';
import { emailsModule } from './sending/emails/module.ts';
import { eventsModule } from './sending/events/module.ts';
import { inboundModule } from './sending/inbound/module.ts';
import { inboundRoutesModule } from './sending/inbound-routes/module.ts';
import { mailboxesModule } from './sending/mailboxes/module.ts';
import { receivedBodies } from './sending/received/contents.ts';
import { receivedModule } from './sending/received/module.ts';
import { reportsModule } from './sending/reports/module.ts';
import { resendModule } from './sending/resend/module.ts';
import { serviceEmailsModule } from './sending/service-emails/module.ts';
import { sesModule } from './sending/ses/module.ts';
import { submissionModule } from './sending/submission/module.ts';
import { suppressionsModule } from './sending/suppressions/module.ts';
import { testClocksModule } from './sending/test-clocks/module.ts';
import { webhooksModule } from './sending/webhooks/module.ts';
import { dashboardModule } from './web/dashboard/module.ts';
import { docsModule } from './web/docs/module.ts';
import { inspectorModule } from './web/live/module.ts';
import { mcpModule } from './web/mcp/module.ts';

/** Every module of the service, in the order of the documentation. `service.ts` connects them. */
export const MODULES = {
  domains: domainsModule,
  inboundRoutes: inboundRoutesModule,
  mailboxes: mailboxesModule,
  reports: reportsModule,
  templates: templatesModule,
  assets: assetsModule,
  emails: emailsModule,
  testClocks: testClocksModule,
  captured: capturedModule,
  checks: checksModule,
  received: receivedModule,
  serviceEmails: serviceEmailsModule,
  webhooks: webhooksModule,
  events: eventsModule,
  resend: resendModule,
  analytics: analyticsModule,
  contacts: contactsModule,
  imports: importsModule,
  audiences: audiencesModule,
  campaigns: campaignsModule,
  flows: flowsModule,
  suppressions: suppressionsModule,
  apiKeys: apiKeysModule,
  requestLog: requestLogModule,
  workspace: workspaceModule,
  members: membersModule,
  auditLog: auditLogModule,
  billing: billingModule,
  mcp: mcpModule,
  system: systemModule,
  usage: usageModule,
  tracking: trackingModule,
  preferences: preferencesModule,
  ses: sesModule,
  inbound: inboundModule,
  submission: submissionModule,
  docs: docsModule,
  dashboard: dashboardModule,
  inspector: inspectorModule,
  certificates: certificatesModule,
} as const;

type Modules = typeof MODULES;

export type ModuleName = keyof Modules;

/**
 * The parts of manifests that need no dependencies: a list of all modules cannot name the dependencies of
 * each.
 */
type Manifest = Pick<Module, 'name' | 'tags' | 'kinds' | 'children' | 'follows' | 'insertRules' | 'audit'>;

const MANIFESTS: readonly Manifest[] = Object.values(MODULES);

export const MODULE_KINDS: readonly ModuleKind[] = MANIFESTS.flatMap(({ kinds = [] }) => kinds);

/** The checks of what modules keep beside their actors. */
export const MODULE_AUDITS = MANIFESTS.flatMap(({ audit }) => audit ?? []);

/** Everything that refers to bodies in BODY_STORE. */
export const BODY_HOLDERS: BodyHolders = {
  email: emailBodies,
  received: receivedBodies,
  asset: assetBodies,
};

/** The groups of the documentation. */
export const MODULE_TAGS: readonly Tag[] = MANIFESTS.flatMap(({ tags = [] }) => tags);

/**
 * Every documented endpoint, without the dependencies that its handler needs: for tools that only list them.
 */
export const documentedRoutes = (): readonly Route[] =>
  Object.values(MODULES).flatMap((module) => module.routes?.({} as never) ?? []);

/**
 * Adds what other modules create and write in the commits of a kind, such as the webhook deliveries of an
 * email, and the activity of a contact.
 */
export function withOthers(registration: Registration): Registration {
  const { kind } = registration;
  const children = MANIFESTS.flatMap((module) => module.children ?? []).filter(({ of }) => of === kind.name);
  const follows = MANIFESTS.flatMap((module) => module.follows ?? []).filter(({ of }) => of === kind.name);
  const rules = MANIFESTS.flatMap((module) => module.insertRules ?? []).filter(({ of }) => of === kind.name);
  if (children.length === 0 && follows.length === 0 && rules.length === 0) return registration;
  const { spawn } = kind;
  return {
    ...registration,
    kind: {
      ...kind,
      spawn: { ...spawn, rules },
      children: [...kind.children, ...children.map(({ child }) => child)],
      followers: follows.map(({ write }) => write),
    },
  };
}

/** The modules after `open`, each by its name. */
export type OpenModules = {
  readonly [Name in ModuleName]: Modules[Name] extends Module<infer Deps, infer Needs, infer Api, never>
    ? OpenModule<Deps, Needs, Api>
    : never;
};

/** The parts that all modules together are opened with. */
export type EveryPart = Parameters<Modules[ModuleName]['open']>[0] & Parameters<Modules['emails']['open']>[0];

/** Opens every module. The engine can be built from their kinds; nothing runs yet. */
export const openModules = (parts: EveryPart): OpenModules =>
  Object.fromEntries(
    Object.entries(MODULES).map(([name, module]) => [name, module.open(parts)]),
  ) as unknown as OpenModules;
