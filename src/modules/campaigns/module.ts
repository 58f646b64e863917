import { defineModule, type Offers, offered } from '../module.ts';
import { auditCampaigns } from './audit.ts';
import { campaignBirths } from './births.ts';
import type { CampaignDeps, DispatchDeps } from './deps.ts';
import { campaignTallyAccountant, followsCampaignEmails } from './follow-emails.ts';
import { campaignKind, campaigns } from './kind.ts';
import { campaignMail } from './mail.ts';
import { pauseWarning } from './pause-warning.ts';
import { campaignPlaces } from './places.ts';
import { campaignRoutes } from './routes.ts';
import { campaignWorker } from './worker.ts';

/** Campaigns: one message to everybody in an audience. */
export const campaignsModule = defineModule<CampaignDeps>({
  name: 'campaigns',
  tags: [
    {
      segment: 'campaigns',
      name: 'Campaigns',
      description: 'One message to everybody in an audience, with every recipient accounted for.',
    },
  ],
  kinds: [
    {
      kind: campaignKind,
      // What gives emails out has to see how fast they leave.
      carriedOutBy: 'delivery',
      permission: 'campaigns:read',
      resource: 'campaigns',
      audit: auditCampaigns,
      label: {
        title: '(select s.name from campaign_settings s where s.campaign_id = a.id)',
        facts: `array['paused: ' || (a.context ->> 'pausedReason')]`,
      },
    },
  ],
  follows: followsCampaignEmails.map((write) => ({ of: 'email', write })),
  births: [campaignBirths, campaignPlaces],
  templateUses: [
    {
      what: 'a campaign that is scheduled or running',
      where: (id) => `exists (select from campaign_settings s join campaigns c on c.id = s.campaign_id
        where s.template_id = ${id} and c.state in ('scheduled', 'preparing', 'sending', 'paused'))`,
    },
  ],
  warnings: [pauseWarning],
  audienceUses: [
    {
      what: 'a campaign that is scheduled or running',
      suggestion: 'Pause and cancel the campaign first, or wait until it has been sent.',
      where: `exists (select from campaign_settings s join campaigns c on c.id = s.campaign_id
        where c.workspace_id = a.workspace_id and c.livemode = a.livemode and c.state in ('scheduled', 'preparing', 'sending', 'paused')
          and (s.audience_id = a.id or s.settings::jsonb -> 'excludeAudienceIds' @> to_jsonb(a.id)))`,
    },
  ],
  routes: campaignRoutes,
  open({ config, database, reads, clock, logger, signer }) {
    let known: Offers = {};
    const dispatching = (): DispatchDeps => ({
      ...{ database, clock, logger },
      contents: offered(known, 'templateContents'),
      acceptance: () => offered(known, 'acceptance'),
      bulkRoom: offered(known, 'bulkRoom'),
      warmUpRoom: offered(known, 'warmUpRoom'),
      guards: { bounceRate: config.campaignBounceRate, complaintRate: config.campaignComplaintRate },
    });
    return {
      registrations: [campaigns(campaignWorker(dispatching))],
      connect({ engine, offers }) {
        known = offers;
        const { publicUrl } = config;
        const contents = offered(offers, 'templateContents');
        offers.campaignMail = campaignMail({ database, signer, contents, publicUrl });
        return {
          deps: {
            ...{ database, reads, engine, signer, contents, publicUrl },
            acceptance: offered(offers, 'acceptance'),
            isMember: async (workspaceId, addressKey) =>
              (await offers.isMember?.(workspaceId, addressKey)) ?? false,
          },
          duties: [campaignTallyAccountant({ database })],
        };
      },
    };
  },
});
