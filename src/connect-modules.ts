import type { MembersApi } from './accounts/members/api.ts';
import type { AssetsApi } from './automation/assets/api.ts';
import type { CampaignsApi } from './automation/campaigns/api.ts';
import {
  campaignShowsImages,
  campaignUsesAudience,
  campaignUsesTemplate,
} from './automation/campaigns/module.ts';
import { pauseWarning } from './automation/campaigns/pause-warning.ts';
import type { FlowsApi } from './automation/flows/api.ts';
import { flowUsesOfAudiences, flowUsesOfTemplates } from './automation/flows/module.ts';
import { templateShowsImages } from './automation/templates/module.ts';
import type { CertificateKeeper } from './http/certificates/keeper.ts';
import type { ConnectedModule, Module, Wiring } from './http/module.ts';
import { forMembers, type Route } from './http/request/route.ts';
import { MODULE_TAGS, MODULES, type ModuleName, type OpenModules } from './modules.ts';
import type { CapturedApi } from './sending/captured/api.ts';
import { lostWarning } from './sending/domains/records/lost-warning.ts';
import type { CampaignMail, EmailsApi, TestClocks } from './sending/emails/api.ts';
import { mayForwardTo } from './sending/inbound-routes/api.ts';
import type { WebhooksApi } from './sending/webhooks/api.ts';
import { disabledWarning } from './sending/webhooks/endpoints/disabled-warning.ts';
import type { Inspector } from './web/live/inspector.ts';

/** The modules, connected to the engine and to each other. */
export interface ConnectedModules {
  readonly routes: readonly Route[];
  readonly connected: readonly ConnectedModule<unknown, unknown>[];
  readonly liveView: Inspector;
  /** The certificate of HTTPS_PORT; null without that port. */
  readonly certificates: CertificateKeeper | null;
  /** Tells load balancers that this instance is about to stop. */
  drain(): void;
}

/** The answer to a request as if it came from an address: with every check. */
export type Ask = (request: Request, client: string) => Promise<Response>;

/**
 * Connects every module, each with the functions that it needs of others. A function of a later module is a
 * closure: it is first called after the service has started.
 */
export function connectModules(open: OpenModules, wiring: Wiring, ask: Ask): ConnectedModules {
  const byName = new Map<ModuleName, ConnectedModule<unknown, unknown>>();
  /** Registers a module's endpoints and duties, and returns its functions for other modules. */
  const kept = <Api>(name: ModuleName, module: ConnectedModule<unknown, Api>): Api => {
    byName.set(name, module);
    return module.api;
  };
  const testClocks = (): TestClocks => clocks;
  const isMember: MembersApi['isMember'] = (workspaceId, addressKey) =>
    members.isMember(workspaceId, addressKey);
  const campaignMail = (): CampaignMail => campaigns.campaignMail;

  const { findSendingDomain } = kept(
    'domains',
    open.domains.connect(wiring, { releaseWaiting: (domain) => emails.releaseWaiting(domain) }),
  );
  const mayForward = mayForwardTo({ isMember, findSendingDomain });
  const { receivingRoutes, findReplyDomain } = kept(
    'inboundRoutes',
    open.inboundRoutes.connect(wiring, { posting: () => webhooks.posting, mayForward }),
  );
  const { check } = kept(
    'checks',
    open.checks.connect(wiring, {
      prober: () => webhooks.prober,
      ownImages: (urls) => assets.sizesOf(urls),
    }),
  );
  const { fillTemplate, templateContents } = kept(
    'templates',
    open.templates.connect(wiring, {
      uses: [campaignUsesTemplate, ...flowUsesOfTemplates],
      acceptance: () => emails.acceptance,
      isMember,
      check,
    }),
  );
  const assets: AssetsApi = kept(
    'assets',
    open.assets.connect(wiring, { uses: [templateShowsImages, campaignShowsImages] }),
  );
  const emails: EmailsApi = kept(
    'emails',
    open.emails.connect(wiring, {
      findSendingDomain,
      findReplyDomain,
      fillTemplate,
      testClocks,
      mayForward,
      campaigns: campaignMail,
      mailCaptured: (workspaceId) => captured.mailCaptured(workspaceId),
      leaveByMail: (copy) => leaveByMail(copy),
    }),
  );
  const { acceptance, recordFeedback } = emails;
  const captured: CapturedApi = kept('captured', open.captured.connect(wiring, { check }));
  const clocks: TestClocks = kept(
    'testClocks',
    open.testClocks.connect(wiring, {
      // The activity of contacts comes first, because it starts runs; mail comes last, because all others may
      // send it.
      clocked: () => [
        flows.clockedActivity,
        flows.clockedDates,
        flows.clockedRuns,
        emails.clockedEmails,
        webhooks.clockedDeliveries,
      ],
    }),
  );
  const { sendServiceEmail } = kept(
    'serviceEmails',
    open.serviceEmails.connect(wiring, {
      directMail: emails.directMail,
      warnings: [lostWarning, disabledWarning, pauseWarning],
    }),
  );
  const webhooks: WebhooksApi = kept('webhooks', open.webhooks.connect(wiring, { testClocks }));
  const { receive } = kept(
    'received',
    open.received.connect(wiring, {
      posting: webhooks.posting,
      testClocks,
      mayForward,
      acceptance: () => acceptance,
    }),
  );
  const { readLogLag } = kept('events', open.events.connect(wiring, {}));
  kept('resend', open.resend.connect(wiring, { acceptance, campaigns: campaignMail }));
  kept('analytics', open.analytics.connect(wiring, {}));
  kept(
    'contacts',
    open.contacts.connect(wiring, {
      testClocks,
      forgetting: {
        endRunsOf: (contactId, stop) => flows.endRunsOf(contactId, stop),
        forgetRecipient: (workspaceId, contactId) => campaigns.forgetRecipient(workspaceId, contactId),
        commonSubjects: (ids) => campaigns.commonSubjects(ids),
      },
    }),
  );
  kept('imports', open.imports.connect(wiring, {}));
  kept(
    'audiences',
    open.audiences.connect(wiring, { acceptance, uses: [campaignUsesAudience, ...flowUsesOfAudiences] }),
  );
  const { bulkRoom, warmUpRoom } = emails;
  const campaigns: CampaignsApi = kept(
    'campaigns',
    open.campaigns.connect(wiring, {
      acceptance,
      isMember,
      templateContents,
      bulkRoom,
      warmUpRoom,
      check,
    }),
  );
  const flows: FlowsApi = kept(
    'flows',
    open.flows.connect(wiring, { acceptance, posting: webhooks.posting, testClocks }),
  );
  kept('suppressions', open.suppressions.connect(wiring, {}));
  kept('apiKeys', open.apiKeys.connect(wiring, {}));
  kept('requestLog', open.requestLog.connect(wiring, { noteChange: (note) => liveView.note(note) }));
  const members: MembersApi = kept('members', open.members.connect(wiring, { sendServiceEmail }));
  kept('auditLog', open.auditLog.connect(wiring, {}));
  const { endSubscriptions } = kept('billing', open.billing.connect(wiring, {}));
  kept('workspace', open.workspace.connect(wiring, { endSubscriptions, findSendingDomain }));
  kept('mcp', open.mcp.connect(wiring, { ask }));
  const { drain } = kept('system', open.system.connect(wiring, { readLogLag }));
  kept('usage', open.usage.connect(wiring, {}));
  const { leaveByMail } = kept(
    'tracking',
    open.tracking.connect(wiring, { audienceOf: (campaignId) => campaigns.audienceOf(campaignId) }),
  );
  kept('preferences', open.preferences.connect(wiring, { acceptance }));
  // The ports that follow open with it.
  const certificates = kept('certificates', open.certificates.connect(wiring, {}));
  const { smtp: certificate } = certificates;
  const reports = kept('reports', open.reports.connect(wiring, {}));
  const inboundNeeds = { recordFeedback, receivingRoutes, receive, reports, leaveByMail, certificate };
  const { takeSes } = kept('inbound', open.inbound.connect(wiring, inboundNeeds));
  kept('ses', open.ses.connect(wiring, { recordFeedback, takeSes }));
  const { hosts } = webhooks;
  kept('mailboxes', open.mailboxes.connect(wiring, { recordFeedback, receive, reports, leaveByMail, hosts }));
  kept('submission', open.submission.connect(wiring, { acceptance, mailRoom: emails.mailRoom, certificate }));
  kept('dashboard', open.dashboard.connect(wiring, {}));
  const liveView = kept('inspector', open.inspector.connect(wiring, {}));
  const documented = routesOf(byName, 'routes');
  kept('docs', open.docs.connect(wiring, { documented, tags: MODULE_TAGS }));

  return {
    routes: [...documented, ...documented.flatMap(forMembers), ...routesOf(byName, 'pages')],
    connected: [...byName.values()],
    liveView,
    certificates: certificates.https,
    drain,
  };
}

/** The endpoints of the connected modules, in the order of the documentation. */
function routesOf(
  byName: ReadonlyMap<ModuleName, ConnectedModule<unknown, unknown>>,
  which: 'routes' | 'pages',
): readonly Route[] {
  return Object.entries(MODULES).flatMap(([name, module]) => {
    const connected = byName.get(name as ModuleName);
    return connected ? ((module as Module<never>)[which]?.(connected.deps as never) ?? []) : [];
  });
}
