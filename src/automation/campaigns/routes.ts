import { Type } from '@sinclair/typebox';
import { withCsv } from '../../http/lists/list-csv.ts';
import { type Route, route } from '../../http/request/route.ts';
import { MOST_COUNTED } from '../../mail/check/codes.ts';
import { CHECK_LIMITS, checkAnswer } from '../../sending/checks/api.ts';
import { EmailReceipt } from '../../sending/emails/queries.ts';
import {
  cancelCampaign,
  createCampaign,
  deleteCampaign,
  duplicateCampaign,
  patchCampaign,
  pauseCampaign,
  unscheduleCampaign,
} from './commands.ts';
import type { CampaignDeps } from './deps.ts';
import { CAMPAIGN, ITEM, LINKS, RECIPIENT, SHOWN, STARTED, STATS } from './examples.ts';
import {
  Campaign,
  CampaignItem,
  CampaignLink,
  CampaignQuery,
  CampaignRecipient,
  CampaignStats,
  NewCampaign,
  PatchCampaign,
  RecipientQuery,
  SendCampaign,
} from './model.ts';
import { checkCampaign } from './preview/check.ts';
import { previewCampaign, testSendCampaign } from './preview/preview.ts';
import { CampaignPreview, CheckQuery, PreviewQuery, TestSendBody } from './preview/preview-model.ts';
import { campaignDetail, campaignLinks, campaignStats, listCampaigns, listRecipients } from './queries.ts';
import { sendCampaign } from './sending/send.ts';

const CAMPAIGN_ID = { prefix: 'cmp', resource: 'campaign' } as const;
const params = { id: CAMPAIGN_ID };

export const campaignRoutes = (deps: CampaignDeps): readonly Route[] => [
  route('POST /v1/campaigns', {
    name: 'createCampaign',
    audit: { action: 'campaign.created' },
    permission: 'campaigns:write',
    summary: 'Create a campaign',
    description:
      'Creates a draft: one message to every contact in an audience. It belongs to the environment of the key, and a campaign of the test environment is never sent. The content may be missing until it is sent.',
    body: NewCampaign,
    response: Campaign,
    status: 201,
    failures: ['CONFLICT', 'NOT_FOUND'],
    example: {
      body: {
        name: 'July news',
        audienceId: CAMPAIGN.audienceId,
        subject: CAMPAIGN.subject,
        html: CAMPAIGN.html,
      },
      response: CAMPAIGN,
    },
    handle: (call) => createCampaign(deps, call),
  }),
  route('GET /v1/campaigns', {
    name: 'listCampaigns',
    permission: 'campaigns:read',
    summary: 'List campaigns',
    description: 'Newest first, without their content: `html`, `markdown`, `mjml` and `variables`.',
    query: CampaignQuery,
    response: Type.Array(CampaignItem),
    example: { response: [ITEM] },
    handle: (call) => listCampaigns(deps, call),
  }),
  route('GET /v1/campaigns/:id', {
    name: 'getCampaign',
    permission: 'campaigns:read',
    summary: 'Get a campaign',
    description: 'Its content, its audience, the time of sending, and the reason for a pause or a failure.',
    params,
    response: Campaign,
    example: { response: CAMPAIGN },
    handle: (call) => campaignDetail(deps, call),
  }),
  route('PATCH /v1/campaigns/:id', {
    name: 'updateCampaign',
    audit: { action: 'campaign.changed' },
    permission: 'campaigns:write',
    summary: 'Change a draft',
    description:
      'Members that are left out stay as they are. To replace the body by one of another kind, set the present one to null.',
    params,
    body: PatchCampaign,
    response: Campaign,
    failures: ['CONFLICT'],
    example: { body: { name: 'July news' }, response: CAMPAIGN },
    handle: (call) => patchCampaign(deps, call),
  }),
  route('DELETE /v1/campaigns/:id', {
    name: 'deleteCampaign',
    audit: { action: 'campaign.deleted' },
    permission: 'campaigns:write',
    summary: 'Delete a campaign',
    description:
      'Its emails are not deleted. A campaign that is scheduled, being prepared or sent, or paused cannot be deleted.',
    params,
    failures: ['CONFLICT'],
    handle: (call) => deleteCampaign(deps, call),
  }),
  route('POST /v1/campaigns/:id/duplicate', {
    name: 'duplicateCampaign',
    audit: { action: 'campaign.created' },
    permission: 'campaigns:write',
    summary: 'Duplicate a campaign as a draft',
    description:
      'Works in every state. Content, sender, audience and limits are copied, times and numbers are not. The copy is not sent until you send it.',
    params,
    response: Campaign,
    status: 201,
    failures: ['CONFLICT'],
    example: { response: { ...CAMPAIGN, name: 'Copy of July news' } },
    handle: (call) => duplicateCampaign(deps, call),
  }),
  route('POST /v1/campaigns/:id/send', {
    name: 'sendCampaign',
    audit: { action: 'campaign.sent' },
    permission: 'campaigns:write',
    testMode: 'refused',
    summary: 'Start, schedule or resume a campaign',
    description:
      'A refusal lists all problems at once. The audience is frozen at the start: contacts who join later are not in it, contacts who leave are skipped. A campaign that starts now is refused when it has more recipients than the quota has left; a scheduled or resumed one sends as many as fit, and pauses with `quota_exceeded`. A resumed campaign is sent only to recipients who have not had it.',
    params,
    body: SendCampaign,
    response: Campaign,
    failures: ['CONFLICT', 'FORBIDDEN', 'QUOTA_EXCEEDED', 'NOT_FOUND'],
    example: { body: {}, response: STARTED },
    handle: (call) => sendCampaign(deps, call),
  }),
  route('POST /v1/campaigns/:id/pause', {
    name: 'pauseCampaign',
    audit: { action: 'campaign.paused' },
    permission: 'campaigns:write',
    summary: 'Pause a campaign',
    description:
      'Within a second of the reply no further email begins. Pausing a paused campaign has no effect.',
    params,
    response: Campaign,
    failures: ['CONFLICT'],
    example: { response: { ...STARTED, status: 'paused', pausedReason: 'manual' } },
    handle: (call) => pauseCampaign(deps, call),
  }),
  route('POST /v1/campaigns/:id/unschedule', {
    name: 'unscheduleCampaign',
    audit: { action: 'campaign.unscheduled' },
    permission: 'campaigns:write',
    summary: 'Make a scheduled campaign a draft again',
    description: 'It is not sent until you send or schedule it again. Only while it is `scheduled`.',
    params,
    response: Campaign,
    failures: ['CONFLICT'],
    example: { response: CAMPAIGN },
    handle: (call) => unscheduleCampaign(deps, call),
  }),
  route('POST /v1/campaigns/:id/cancel', {
    name: 'cancelCampaign',
    audit: { action: 'campaign.cancelled' },
    permission: 'campaigns:write',
    summary: 'End a campaign',
    description:
      'For a draft, a scheduled or a paused campaign. Accepted emails without an attempt are `cancelled`: their recipients are skipped, and their units go back to the quota of the month in which they were used.',
    params,
    response: Campaign,
    failures: ['CONFLICT'],
    example: { response: { ...CAMPAIGN, status: 'cancelled' } },
    handle: (call) => cancelCampaign(deps, call),
  }),
  route('GET /v1/campaigns/:id/stats', {
    name: 'getCampaignStats',
    permission: 'campaigns:read',
    summary: 'Get the numbers of a campaign',
    description:
      'All numbers are of one moment: total = sent + remaining + skipped + failed. Opens and clicks by programs count separately.',
    params,
    response: CampaignStats,
    example: { response: STATS },
    handle: (call) => campaignStats(deps, call),
  }),
  route('GET /v1/campaigns/:id/links', {
    name: 'listCampaignLinks',
    permission: 'campaigns:read',
    summary: 'List the links of a campaign with their clicks',
    description: 'Links with the most clicks by people first, at most 1,000. The list has one page.',
    params,
    response: Type.Array(CampaignLink),
    example: { response: LINKS },
    handle: (call) => campaignLinks(deps, call),
  }),
  ...withCsv(
    {
      name: 'exportCampaignRecipients',
      file: 'recipients.csv',
      summary: 'Download the recipients of a campaign as CSV',
      action: 'recipients.exported',
    },
    route('GET /v1/campaigns/:id/recipients', {
      name: 'listCampaignRecipients',
      permission: 'campaigns:read',
      summary: 'List the recipients of a campaign',
      description:
        'The recipients in the frozen audience, oldest contacts first; empty before the campaign has started.',
      params,
      query: RecipientQuery,
      response: Type.Array(CampaignRecipient),
      example: { response: [RECIPIENT] },
      handle: (call) => listRecipients(deps, call),
    }),
  ),
  route('GET /v1/campaigns/:id/preview', {
    name: 'previewCampaign',
    permission: 'campaigns:read',
    summary: 'Preview a campaign for a contact',
    description:
      'Rendered like the real email, except that the links to unsubscribe and to the preference page have no effect. Once the campaign has started it is the content of that start, which all its recipients get, whatever its template says since.',
    params,
    query: PreviewQuery,
    response: CampaignPreview,
    example: { response: SHOWN },
    handle: (call) => previewCampaign(deps, call),
  }),
  route('GET /v1/campaigns/:id/check', {
    name: 'checkCampaign',
    permission: 'campaigns:read',
    summary: 'Check a campaign before it is sent',
    description: `As it is set now: links that do not answer, what mail programs leave out, placeholders that stay empty for some contacts of the audience (of which at most ${MOST_COUNTED.toLocaleString('en')} are counted) and more, each with its line. The rules are at /docs/check-messages. ${CHECK_LIMITS}`,
    params,
    query: CheckQuery,
    ...checkAnswer(deps.previewsPerMinute),
    handle: (call) => checkCampaign(deps, call),
  }),
  route('POST /v1/campaigns/:id/test-send', {
    name: 'testSendCampaign',
    permission: ['campaigns:write', 'emails:send'],
    testMode: 'refused',
    summary: 'Send a test of a campaign to colleagues',
    description:
      'A real email with `[Test] ` before its subject, which counts against the quota but not in the numbers of the campaign. Its content is that of the preview, and its link to unsubscribe opens a page that says that it is a test.',
    params,
    body: TestSendBody,
    response: EmailReceipt,
    failures: ['FORBIDDEN', 'QUOTA_EXCEEDED'],
    example: {
      body: { to: ['ada@acme.example'] },
      response: {
        id: 'em_01m7xj1rwzprnwr10308attx',
        livemode: true,
        status: 'queued',
        scheduledAt: null,
        createdAt: '2026-01-31T09:30:00.000Z',
      },
    },
    handle: (call) => testSendCampaign(deps, call),
  }),
];
