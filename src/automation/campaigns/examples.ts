import type { CampaignItemView, CampaignView, LinkView, RecipientView, StatsView } from './model.ts';
import type { PreviewView } from './preview/preview-model.ts';

export const ITEM: CampaignItemView = {
  id: 'cmp_01m7xj1rwzprnwr10308attx',
  livemode: true,
  name: 'July news',
  status: 'draft',
  pausedReason: null,
  failureReason: null,
  audienceId: 'aud_01m7xj1rwzprnwr10308attx',
  excludeAudienceIds: [],
  from: 'Acme <news@acme.example>',
  replyTo: [],
  subject: 'What is new, {{ contact.firstName | default: "friend" }}',
  previewText: null,
  templateId: null,
  ratePerHour: null,
  language: null,
  canary: null,
  trackOpens: null,
  trackClicks: null,
  scheduledAt: null,
  startedAt: null,
  completedAt: null,
  recipientCount: null,
  createdAt: '2026-01-31T09:30:00.000Z',
  updatedAt: '2026-01-31T09:30:00.000Z',
};

export const CAMPAIGN: CampaignView = {
  ...ITEM,
  html: '<p>Hello</p><p><a href="{{ unsubscribeUrl }}">Unsubscribe</a></p>',
  markdown: null,
  mjml: null,
  variables: {},
};

/** The same campaign after its start. */
export const STARTED: CampaignView = {
  ...CAMPAIGN,
  status: 'preparing',
  startedAt: '2026-01-31T09:31:00.000Z',
  updatedAt: '2026-01-31T09:31:00.000Z',
};

export const STATS: StatsView = {
  total: 1_000,
  sent: 970,
  remaining: 0,
  skipped: 20,
  failed: 10,
  inDoubt: 0,
  delivered: { count: 965, rate: 0.9846938775510204 },
  opened: { count: 420, unique: 310, rate: 0.32124352331606215 },
  clicked: { count: 130, unique: 96, rate: 0.09948186528497409 },
  bounced: { permanent: 10, transient: 2, rate: 0.01020408163265306 },
  complained: 0,
  unsubscribed: 4,
  replied: 31,
  machineOpens: 210,
  machineClicks: 12,
};

export const LINKS: LinkView[] = [{ url: 'https://acme.example/july', clicks: 130, uniqueClicks: 96 }];

export const RECIPIENT: RecipientView = {
  contactId: 'con_01m7xj1rwzprnwr10308attx',
  email: 'ada@example.com',
  outcome: 'sent',
  reason: null,
  emailId: 'em_01m7xj1rwzprnwr10308attx',
  openedAt: '2026-01-31T10:02:11.000Z',
  clickedAt: null,
  bouncedAt: null,
  complainedAt: null,
  unsubscribedAt: null,
  repliedAt: null,
};

export const SHOWN: PreviewView = {
  language: null,
  from: 'Acme <news@acme.example>',
  subject: 'What is new, Ada',
  html: '<p>Hello</p><p><a href="{{unsubscribeUrl}}">Unsubscribe</a></p>',
  text: 'Hello\n\nUnsubscribe {{unsubscribeUrl}}',
  warnings: [],
};
