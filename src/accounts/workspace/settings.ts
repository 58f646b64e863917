import type { Principal } from '../../http/auth/principal.ts';
import { changedSince, isStatedSql, laterSql, statedMoment } from '../../http/if-updated-at.ts';
import type { Database, Parameter } from '../../platform/db/database.ts';
import type { Failure } from '../../platform/errors/failure.ts';
import { formatAddress, isProblem, parseAddress } from '../../platform/text/address.ts';
import { hasControls, hasUnseen } from '../../platform/text/characters.ts';
import { NO_LANGUAGE, readLanguage } from '../../platform/text/language.ts';
import { Problems, type Report } from '../../platform/text/problems.ts';
import { NO_ZONE, zones } from '../../platform/zones/zones.ts';
import { MUTABLE_EMAILS } from '../service-emails.ts';
import type { WorkspacePatch } from './model.ts';

export interface SettingsDeps {
  readonly database: Database;
  /** Finds the verified domain of a workspace that covers a name (lower-case ASCII). */
  findSendingDomain(workspaceId: string, name: string): Promise<object | null>;
}

/** The creation time, for a workspace whose settings were never changed. */
const CHANGED_AT = 'coalesce(updated_at, created_at)';
const CHANGED = changedSince('workspace');
/** The kinds of emails that the workspace has turned off: the earlier ones without $4, plus $5. */
const MUTED =
  'array(select unnest(muted_emails) except select unnest($4::text[]) union select unnest($5::text[]))';

type Columns = Record<string, Parameter>;

/**
 * Changes the settings of the caller's workspace that the body names; null resets a setting. @throws
 * UnavailableError
 */
export async function patchWorkspace(
  { database, findSendingDomain }: SettingsDeps,
  { workspaceId }: Principal,
  body: WorkspacePatch,
  now: number,
): Promise<Failure | null> {
  const problems = new Problems();
  const columns = { ...settingsOf(body, problems.report), ...brandingOf(body.branding, problems.report) };
  const sender = await senderOf(body.defaultFrom, problems.report, (domain) =>
    findSendingDomain(workspaceId, domain),
  );
  const failure = problems.failure();
  if (failure) return failure;
  const values = Object.entries({ ...columns, ...sender });
  const assignments = values.map(([name], index) => `${name} = $${index + 6}, `).join('');
  const { serviceEmails = {} } = body;
  const wanted = (is: boolean) => MUTABLE_EMAILS.filter((kind) => serviceEmails[kind] === is);
  // `branding: {}` changes nothing.
  const isNothing = values.length === 0 && Object.keys(serviceEmails).length === 0;
  const changedAt = `case when $2::text is null then updated_at else ${laterSql(CHANGED_AT, '$2')} end`;
  const rows = await database.query(
    `update workspaces set ${assignments}updated_at = ${changedAt}, muted_emails = ${MUTED} where id = $1 and ${isStatedSql(CHANGED_AT, '$3')} returning id`,
    [
      workspaceId,
      isNothing ? null : new Date(now).toISOString(),
      statedMoment(body),
      wanted(true),
      wanted(false),
      ...values.map(([, value]) => value),
    ],
  );
  return rows.length === 0 ? CHANGED : null;
}

const given = (name: string, value: string | null | undefined): Columns =>
  value === undefined ? {} : { [name]: value };

function settingsOf({ name, defaultReplyTo, timeZone, language }: WorkspacePatch, report: Report): Columns {
  if (name !== undefined && hasUnseen(name)) report('/body/name', UNSEEN);
  const zone = timeZone === undefined ? undefined : zones.nameOf(timeZone);
  if (zone === null) report('/body/timeZone', NO_ZONE);
  const read = typeof language === 'string' ? readLanguage(language) : language;
  if (read === null && language !== null) report('/body/language', NO_LANGUAGE);
  return {
    ...given('name', name?.trim()),
    ...given('default_reply_to', addressOf(defaultReplyTo, '/body/defaultReplyTo', report)?.text),
    ...(defaultReplyTo === null && { default_reply_to: null }),
    ...given('time_zone', zone),
    ...given('language', read),
  };
}

function brandingOf(branding: WorkspacePatch['branding'], report: Report): Columns {
  const { colour, fontFamily, address, website } = branding ?? {};
  if (address?.split('\n').some(hasControls)) report('/body/branding/address', UNSEEN);
  if (address?.trim() === '') report('/body/branding/address', 'Must not be blank; send null to reset it.');
  if (typeof website === 'string' && !isWebsite(website)) report('/body/branding/website', NO_WEBSITE);
  return {
    ...given('colour', colour?.toLowerCase() ?? colour),
    ...given('font_family', fontFamily),
    ...given('address', address),
    ...given('website', website),
  };
}

async function senderOf(
  defaultFrom: string | null | undefined,
  report: Report,
  findDomain: (name: string) => Promise<object | null>,
): Promise<Columns> {
  if (defaultFrom === null) return { default_from: null };
  const address = addressOf(defaultFrom, '/body/defaultFrom', report);
  if (!address) return {};
  if (!(await findDomain(address.domain))) report('/body/defaultFrom', UNVERIFIED);
  return { default_from: address.text };
}

function addressOf(text: string | null | undefined, path: string, report: Report) {
  if (typeof text !== 'string') return null;
  const read = parseAddress(text);
  if (!isProblem(read)) return { text: formatAddress(read), domain: read.domain };
  report(path, read.problem);
  return null;
}

const UNSEEN = 'Must not hold control or invisible characters.';
const NO_WEBSITE = 'Must be an http or https URL without a user name, such as https://acme.example.';
const UNVERIFIED = 'Must be at a domain that is verified in this workspace: add it with POST /v1/domains.';

function isWebsite(text: string): boolean {
  if (!URL.canParse(text) || hasUnseen(text) || /\s/.test(text)) return false;
  const { protocol, username, password } = new URL(text);
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '';
}
