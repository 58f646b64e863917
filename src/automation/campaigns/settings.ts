import { findAudienceRow } from '../../audience/audiences/queries.ts';
import type { Scope } from '../../audience/contacts/queries.ts';
import { type Detail, type Failure, invalid, invalidAt, notFound } from '../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../platform/text/address.ts';
import { hasControls } from '../../platform/text/characters.ts';
import { NO_LANGUAGE, readLanguage } from '../../platform/text/language.ts';
import { parseReplyTo } from '../../sending/emails/commands.ts';
import type { CampaignDeps } from './deps.ts';
import type { CampaignBody, CanaryView } from './model.ts';

/** The settings of a campaign. Null where the author has set nothing. */
export interface CampaignSettings {
  readonly name: string;
  readonly audienceId: string;
  readonly excludeAudienceIds: readonly string[];
  readonly from: string | null;
  readonly replyTo: readonly string[];
  readonly subject: string | null;
  readonly previewText: string | null;
  readonly templateId: string | null;
  /** The language of all emails; null chooses that of each contact. */
  readonly language: string | null;
  readonly html: string | null;
  readonly markdown: string | null;
  /** Campaigns from before it could be chosen have none. */
  readonly mjml?: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly ratePerHour: number | null;
  readonly canary: CanaryView | null;
  readonly trackOpens: boolean | null;
  readonly trackClicks: boolean | null;
}

/** The settings as a row. */
export interface SettingsRow {
  readonly name: string;
  readonly audience_id: string;
  readonly template_id: string | null;
  readonly settings: CampaignSettings;
  readonly updated_at: string;
}

/** The row of settings that were set at a moment (epoch milliseconds). */
export const rowOf = (settings: CampaignSettings, at: number): SettingsRow => ({
  name: settings.name,
  audience_id: settings.audienceId,
  template_id: settings.templateId,
  settings,
  updated_at: new Date(at).toISOString(),
});

/** The settings of a new campaign. */
export const NOTHING_SET: Omit<CampaignSettings, 'name' | 'audienceId'> = {
  excludeAudienceIds: [],
  from: null,
  replyTo: [],
  subject: null,
  previewText: null,
  templateId: null,
  language: null,
  html: null,
  markdown: null,
  mjml: null,
  variables: {},
  ratePerHour: null,
  canary: null,
  trackOpens: null,
  trackClicks: null,
};

const ONE_BODY = 'Must not be given with another body: use one of html, markdown, mjml and templateId.';
const ONE_LINE = 'Must be one line, without control characters.';
const EXCLUDED = 'Must not be the audience that it is sent to.';

/**
 * Reads the settings of a request over the previous ones, and lists every problem in them. The template and
 * the audiences must exist; content is compiled, so that content that can never be rendered is refused now.
 * @throws UnavailableError
 */
export async function readSettings(
  deps: Pick<CampaignDeps, 'database' | 'contents'>,
  scope: Scope,
  before: CampaignSettings,
  body: CampaignBody,
  now: number,
): Promise<CampaignSettings | Failure> {
  const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
  const merged = { ...before, ...given } as Omit<CampaignSettings, 'replyTo' | 'excludeAudienceIds'> & {
    readonly replyTo: string | readonly string[] | null;
    readonly excludeAudienceIds: readonly string[] | null;
  };
  const settings: CampaignSettings = {
    ...merged,
    replyTo: merged.replyTo === null ? [] : [merged.replyTo].flat(),
    excludeAudienceIds: [...new Set(merged.excludeAudienceIds ?? [])],
    variables: merged.variables ?? {},
    language: merged.language == null ? null : (readLanguage(merged.language) ?? merged.language),
  };
  const details = problemsOf(settings, body);
  if (details.length > 0) return invalid(details);
  const missing = await missingOf(deps, scope, settings);
  if (missing) return missing;
  const { templateId } = settings;
  if (templateId !== null) {
    const found = await deps.contents.find(scope, templateId);
    return 'row' in found ? { ...settings, templateId: found.row.id } : found;
  }
  const compiled = await compileOwn(deps, scope, settings, now);
  return compiled && 'code' in compiled ? compiled : settings;
}

/**
 * Compiles the content of a campaign that has its own, which is in the language of the campaign; null where
 * it has none.
 */
export function compileOwn(
  { contents }: Pick<CampaignDeps, 'contents'>,
  owner: Scope,
  { subject, previewText, html, markdown, mjml = null, language }: CampaignSettings,
  now: number,
): ReturnType<CampaignDeps['contents']['compile']> | null {
  if (html === null && markdown === null && mjml === null) return null;
  const format = mjml !== null ? 'mjml' : markdown !== null ? 'emailmd' : 'html';
  return contents.compile(owner, { format, subject, previewText, html, markdown, mjml, language }, now);
}

function problemsOf(settings: CampaignSettings, body: CampaignBody): Detail[] {
  const details: Detail[] = [];
  const { from, replyTo, subject, previewText, templateId, html, markdown, mjml = null } = settings;
  const check = (text: string, path: string, parse = parseAddress) => {
    const read = parse(text);
    if (isProblem(read)) details.push({ path, message: read.problem });
  };
  if (from !== null) check(from, '/body/from');
  for (const [index, text] of replyTo.entries())
    check(text, Array.isArray(body.replyTo) ? `/body/replyTo/${index}` : '/body/replyTo', parseReplyTo);
  if (settings.language !== null && readLanguage(settings.language) === null)
    details.push({ path: '/body/language', message: NO_LANGUAGE });
  if (hasControls(subject ?? '')) details.push({ path: '/body/subject', message: ONE_LINE });
  if (hasControls(previewText ?? '')) details.push({ path: '/body/previewText', message: ONE_LINE });
  const bodies = Object.entries({ templateId, html, markdown, mjml }).filter(([, value]) => value !== null);
  if (bodies.length > 1)
    for (const [name] of bodies)
      if (body[name as keyof CampaignBody] !== undefined)
        details.push({ path: `/body/${name}`, message: ONE_BODY });
  if (settings.excludeAudienceIds.includes(settings.audienceId))
    details.push({ path: '/body/excludeAudienceIds', message: EXCLUDED });
  return details;
}

async function missingOf(
  deps: Pick<CampaignDeps, 'database'>,
  scope: Scope,
  { audienceId, excludeAudienceIds }: CampaignSettings,
): Promise<Failure | null> {
  if (!(await findAudienceRow(deps, scope, audienceId))) return notFound('audience');
  for (const [index, id] of excludeAudienceIds.entries())
    if (!(await findAudienceRow(deps, scope, id)))
      return invalidAt(`/body/excludeAudienceIds/${index}`, 'This audience does not exist.');
  return null;
}
