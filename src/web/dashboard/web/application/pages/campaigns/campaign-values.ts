import type { Campaign, UpdateCampaign } from '../../../../../client/operations.ts';
import { RequestError } from '../../api/requests.ts';
import { orNull } from '../../ui/forms/or-null.ts';

/** The content types of a campaign. */
export const CONTENT = {
  mjml: 'Visual editor',
  markdown: 'Markdown',
  html: 'HTML',
  template: 'Template',
} as const;
/** The content of a new campaign. */
export const START = [
  'Hello {{ contact.firstName | default: "there" }},',
  '',
  'what you want to say.',
  '',
  '---',
  '',
  '[Unsubscribe]({{ unsubscribeUrl }})',
].join('\n');

/** The choices for tracking opens or clicks. */
export const TRACKING = { domain: 'Same as the domain', on: 'Yes', off: 'No' } as const;
const TRACKED: Readonly<Record<string, boolean | undefined>> = { on: true, off: false };
const trackingOf = (isOn: boolean | null): keyof typeof TRACKING =>
  isOn === null ? 'domain' : isOn ? 'on' : 'off';

/** The limits of a share that gets it first, and what they usually are. */
export const CANARY = [
  ['percent', 'Sample size, in percent', 'decimal', 10],
  ['holdMinutes', 'Wait, in minutes', 'numeric', 30],
  ['maxBounceRate', 'Maximum bounces, in percent', 'decimal', 5],
  ['maxComplaintRate', 'Maximum complaints, in percent', 'decimal', 0.3],
] as const;

/** A campaign while it is written: most of it as texts, by the names of the fields. */
export type CampaignValues = ReturnType<typeof valuesOf>;

/** The labels of the fields. */
export const LABELS: Readonly<Record<keyof CampaignValues, string>> = {
  name: 'Name',
  audienceId: 'Audience',
  excludeAudienceIds: 'Exclude',
  from: 'From',
  replyTo: 'Reply to',
  subject: 'Subject',
  previewText: 'Preview text',
  content: 'Content type',
  source: 'Content',
  others: 'Content of other types',
  templateId: 'Template',
  language: 'Language',
  variables: 'Template variables',
  trackOpens: 'Track opens',
  trackClicks: 'Track clicks',
  ratePerHour: 'Sending speed',
  canary: 'Send to a sample first',
  'canary/percent': 'Sample size, in percent',
  'canary/holdMinutes': 'Wait, in minutes',
  'canary/maxBounceRate': 'Maximum bounces, in percent',
  'canary/maxComplaintRate': 'Maximum complaints, in percent',
};

const contentOf = ({ templateId, html, mjml }: Campaign): keyof typeof CONTENT => {
  if (templateId !== null) return 'template';
  if (mjml !== null) return 'mjml';
  return html === null ? 'markdown' : 'html';
};

/** The editable fields of a campaign. */
export const valuesOf = (campaign: Campaign) => ({
  name: campaign.name,
  audienceId: campaign.audienceId,
  excludeAudienceIds: campaign.excludeAudienceIds,
  from: campaign.from ?? '',
  replyTo: campaign.replyTo.join(', '),
  subject: campaign.subject ?? '',
  previewText: campaign.previewText ?? '',
  content: contentOf(campaign),
  source: campaign.markdown ?? campaign.html ?? campaign.mjml ?? '',
  /** The sources of other content types, which a draft keeps. */
  others: {} as Readonly<Record<string, string>>,
  templateId: campaign.templateId ?? '',
  language: campaign.language ?? '',
  variables: Object.keys(campaign.variables).length === 0 ? '' : JSON.stringify(campaign.variables, null, 2),
  trackOpens: trackingOf(campaign.trackOpens),
  trackClicks: trackingOf(campaign.trackClicks),
  ratePerHour: campaign.ratePerHour === null ? '' : String(campaign.ratePerHour),
  canary: campaign.canary !== null,
  ...(Object.fromEntries(
    CANARY.map(([name, , , usual]) => [`canary/${name}`, String(campaign.canary?.[name] ?? usual)]),
  ) as Record<`canary/${(typeof CANARY)[number][0]}`, string>),
});

/** The values in JSON; none while it is being typed. */
export function objectIn(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : {};
  } catch {
    return {};
  }
}

/** The values of variables from their JSON. @throws RequestError */
function variablesIn(text: string): Readonly<Record<string, unknown>> {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch (error) {
    const message = `This is not valid JSON: ${(error as Error).message}`;
    throw new RequestError(422, message, null, [{ path: '/body/variables', message }]);
  }
}

/** The request members of each value; values of the same member produce it together. */
const SAID: { readonly [Name in keyof CampaignValues]: (values: CampaignValues) => UpdateCampaign } = {
  name: ({ name }) => ({ name }),
  audienceId: ({ audienceId }) => ({ audienceId }),
  excludeAudienceIds: ({ excludeAudienceIds }) => ({ excludeAudienceIds }),
  from: ({ from }) => ({ from: orNull(from) }),
  replyTo: ({ replyTo }) => ({
    replyTo: replyTo
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== ''),
  }),
  subject: ({ subject }) => ({ subject: orNull(subject) }),
  previewText: ({ previewText }) => ({ previewText: orNull(previewText) }),
  content: saidOfContent,
  source: saidOfContent,
  // A draft alone has it: a campaign has one content.
  others: () => ({}),
  templateId: saidOfContent,
  language: ({ language }) => ({ language: orNull(language) }),
  variables: ({ variables }) => ({ variables: variablesIn(variables) }),
  trackOpens: ({ trackOpens }) => ({ trackOpens: TRACKED[trackOpens] ?? null }),
  trackClicks: ({ trackClicks }) => ({ trackClicks: TRACKED[trackClicks] ?? null }),
  ratePerHour: ({ ratePerHour }) => ({
    ratePerHour: ratePerHour.trim() === '' ? null : Number(ratePerHour),
  }),
  canary: saidOfCanary,
  'canary/percent': saidOfCanary,
  'canary/holdMinutes': saidOfCanary,
  'canary/maxBounceRate': saidOfCanary,
  'canary/maxComplaintRate': saidOfCanary,
};

function saidOfContent({ content, source, templateId }: CampaignValues): UpdateCampaign {
  return {
    templateId: content === 'template' ? orNull(templateId) : null,
    markdown: content === 'markdown' ? source : null,
    html: content === 'html' ? source : null,
    mjml: content === 'mjml' ? source : null,
  };
}

function saidOfCanary(values: CampaignValues): UpdateCampaign {
  if (!values.canary) return { canary: null };
  const number = (name: (typeof CANARY)[number][0]) => Number(values[`canary/${name}`]);
  return {
    canary: {
      percent: number('percent'),
      holdMinutes: number('holdMinutes'),
      maxBounceRate: number('maxBounceRate'),
      maxComplaintRate: number('maxComplaintRate'),
    },
  };
}

/** The request that saves only these values. @throws RequestError */
export const bodyOf = (names: readonly (keyof CampaignValues)[], values: CampaignValues): UpdateCampaign =>
  Object.assign({}, ...names.map((name) => SAID[name](values)));
