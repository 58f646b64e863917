import type { MembersApi } from '../../accounts/members/api.ts';
import type { AudienceUse } from '../../audience/audiences/commands.ts';
import type { Module } from '../../http/module.ts';
import { later } from '../../platform/async/later.ts';
import type { ChecksApi } from '../../sending/checks/api.ts';
import type { EmailsApi } from '../../sending/emails/api.ts';
import type { AssetUse } from '../assets/api.ts';
import type { TemplatesApi } from '../templates/api.ts';
import type { TemplateUse } from '../templates/commands.ts';
import type { CampaignsApi } from './api.ts';
import { auditCampaigns } from './audit.ts';
import { forgetRecipient } from './commands.ts';
import type { CampaignDeps, DispatchDeps } from './deps.ts';
import { campaignInsertRule, campaignLimit, campaignReplyRule } from './insert-rule.ts';
import { campaignKind, campaigns } from './kind.ts';
import { commonSubjects, leftAudience } from './queries.ts';
import { campaignRoutes } from './routes.ts';
import { campaignTallyAccountant, followsCampaignEmails } from './sending/follow-emails.ts';
import { campaignMail } from './sending/mail.ts';
import { campaignWorker } from './sending/worker.ts';

/** The functions of other modules that campaigns need. */
type CampaignNeeds = Pick<EmailsApi, 'acceptance' | 'bulkRoom' | 'warmUpRoom'> &
  Pick<TemplatesApi, 'templateContents'> &
  Pick<MembersApi, 'isMember'> &
  Pick<ChecksApi, 'check'>;

/** A campaign that is under way keeps its template from being deleted. */
export const campaignUsesTemplate: TemplateUse = {
  what: 'a campaign that is scheduled or running',
  where: (id) => `exists (select from campaign_settings s join campaigns c on c.id = s.campaign_id
    where s.template_id = ${id} and c.state in ('scheduled', 'preparing', 'sending', 'paused'))`,
};

/** The states in which a campaign sends the content that it had at its start. */
const SENDS_KEPT = `c.state in ('sending', 'paused')`;

/**
 * Images in the content that a campaign has itself, and those in the content that it is sending, whatever its
 * template says since. The images of the template of another campaign are uses of the template.
 */
export const campaignShowsImages: AssetUse = {
  type: 'campaign',
  uses: `select c.id, s.name, c.livemode, f.file
    from campaign_settings s join campaigns c on c.id = s.campaign_id
      cross join lateral unnest(images_in(s.settings)) f(file)
    where c.workspace_id = $1 and c.state <> 'deleted' and images_in(s.settings) && $2 and f.file = any($2)
    union select c.id, s.name, c.livemode, f.file
    from campaign_contents k join campaigns c on c.id = k.campaign_id join campaign_settings s on s.campaign_id = c.id
      cross join lateral unnest(images_in(k.content)) f(file)
    where c.workspace_id = $1 and ${SENDS_KEPT} and images_in(k.content) && $2 and f.file = any($2)`,
  keeps: `exists (select from campaign_settings s join campaigns c on c.id = s.campaign_id
      where images_in(s.settings) && array[a.file] and c.workspace_id = a.workspace_id and c.state <> 'deleted')
    or exists (select from campaign_contents k join campaigns c on c.id = k.campaign_id
      where images_in(k.content) && array[a.file] and c.workspace_id = a.workspace_id and ${SENDS_KEPT})`,
};

/** A campaign that is under way keeps its audiences from being deleted. */
export const campaignUsesAudience: AudienceUse = {
  what: 'a campaign that is scheduled or running',
  suggestion: 'Pause and cancel the campaign first, or wait until it is sent.',
  where: `exists (select from campaign_settings s join campaigns c on c.id = s.campaign_id
    where c.workspace_id = a.workspace_id and c.livemode = a.livemode and c.state in ('scheduled', 'preparing', 'sending', 'paused')
      and (s.audience_id = a.id or s.settings::jsonb -> 'excludeAudienceIds' @> to_jsonb(a.id)))`,
};

/** Campaigns: one message to every contact in an audience. */
export const campaignsModule: Module<CampaignDeps, CampaignNeeds, CampaignsApi> = {
  name: 'campaigns',
  tags: [
    {
      segment: 'campaigns',
      name: 'Campaigns',
      description: 'One message to every contact in an audience, with the outcome of each recipient.',
    },
  ],
  kinds: [
    {
      kind: campaignKind,
      // The instance that dispatches emails has to see how fast they leave.
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
  insertRules: [campaignInsertRule, campaignLimit, campaignReplyRule],
  routes: campaignRoutes,
  open({ config, database, reads, clock, logger, signer, mailReader }) {
    const { needed, provide } = later<CampaignNeeds>();
    const dispatching = (): DispatchDeps => {
      const { templateContents, acceptance, bulkRoom, warmUpRoom } = needed();
      return {
        database,
        clock,
        logger,
        bulkRoom,
        warmUpRoom,
        contents: templateContents,
        acceptance: () => acceptance,
        guards: { bounceRate: config.campaignBounceRate, complaintRate: config.campaignComplaintRate },
      };
    };
    return {
      registrations: [campaigns(campaignWorker(dispatching))],
      connect({ engine }, needs) {
        provide(needs);
        const { acceptance, isMember, check, templateContents: contents } = needs;
        const { publicUrl } = config;
        const mail = campaignMail({
          database,
          signer,
          contents,
          publicUrl,
          monotonic: clock.monotonic,
        });
        const { forgetStanding } = mail;
        return {
          api: {
            campaignMail: mail,
            audienceOf: (campaignId) => leftAudience(database, campaignId),
            forgetRecipient: (workspaceId, contactId) => forgetRecipient(database, workspaceId, contactId),
            commonSubjects: (ids) => commonSubjects(database, ids),
          },
          deps: {
            database,
            reads,
            engine,
            signer,
            contents,
            publicUrl,
            acceptance,
            isMember,
            forgetStanding,
            check,
            mailReader,
            previewsPerMinute: config.rateLimitPreview,
          },
          duties: [campaignTallyAccountant({ database })],
        };
      },
    };
  },
};
