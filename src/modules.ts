import { dashboardModule } from './dashboard/module.ts';
import type { Registration } from './engine/running-kind.ts';
import type { Route } from './http/route.ts';
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
import type { Module, ModuleKind, OpenModule, Tag } from './modules/module.ts';
import { preferencesModule } from './modules/preferences/module.ts';
import { resendModule } from './modules/resend/module.ts';
import { serviceEmailsModule } from './modules/service-emails/module.ts';
import { sesModule } from './modules/ses/module.ts';
import { submissionModule } from './modules/submission/module.ts';
import { suppressionsModule } from './modules/suppressions/module.ts';
import { systemModule } from './modules/system/module.ts';
import { templatesModule } from './modules/templates/module.ts';
import { testClocksModule } from './modules/test-clocks/module.ts';
import { trackingModule } from './modules/tracking/module.ts';
import { usageModule } from './modules/usage/module.ts';
import { webhooksModule } from './modules/webhooks/module.ts';
import { workspaceModule } from './modules/workspace/module.ts';

/** Every module of the service, in the order of the documentation. `service.ts` connects them. */
export const MODULES = {
  domains: domainsModule,
  templates: templatesModule,
  emails: emailsModule,
  testClocks: testClocksModule,
  captured: capturedModule,
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
  changes: changesModule,
  certificates: certificatesModule,
} as const;

type Modules = typeof MODULES;

/** The name of a module. */
export type ModuleName = keyof Modules;

/** The parts of manifests that need no dependencies: a list of all modules cannot name the dependencies of each. */
type Manifest = Pick<Module, 'name' | 'tags' | 'kinds' | 'children' | 'follows' | 'births' | 'audit'>;

const MANIFESTS: readonly Manifest[] = Object.values(MODULES);

/** The kinds of all modules. */
export const MODULE_KINDS: readonly ModuleKind[] = MANIFESTS.flatMap(({ kinds = [] }) => kinds);

/** The checks of what modules keep beside their actors. */
export const MODULE_AUDITS = MANIFESTS.flatMap(({ audit }) => audit ?? []);

/** The groups of the documentation. */
export const MODULE_TAGS: readonly Tag[] = MANIFESTS.flatMap(({ tags = [] }) => tags);

/** Every documented endpoint, without the dependencies that its handler needs: for tools that only list them. */
export const documentedRoutes = (): readonly Route[] =>
  Object.values(MODULES).flatMap((module) => module.routes?.({} as never) ?? []);

/**
 * Adds what other modules create and write in the commits of a kind, such as the webhook deliveries of an email, and the activity
 * of a contact.
 */
export function withOthers(registration: Registration): Registration {
  const { kind } = registration;
  const children = MANIFESTS.flatMap((module) => module.children ?? []).filter(({ of }) => of === kind.name);
  const follows = MANIFESTS.flatMap((module) => module.follows ?? []).filter(({ of }) => of === kind.name);
  const births = MANIFESTS.flatMap((module) => module.births ?? []).filter(({ of }) => of === kind.name);
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
