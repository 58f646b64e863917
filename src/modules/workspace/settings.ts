import type { Principal } from '../../auth/principal.ts';
import type { Database, Parameter } from '../../db/database.ts';
import type { Failure } from '../../http/failure.ts';
import { formatAddress, isProblem, parseAddress } from '../../mail/address.ts';
import { hasControls, hasUnseen } from '../../mail/characters.ts';
import { Problems, type Report } from '../../mail/problems.ts';
import { NO_ZONE, zones } from '../../zones/zones.ts';
import { MUTABLE_EMAILS } from '../service-emails/commands.ts';
import type { WorkspacePatch } from './model.ts';

export interface SettingsDeps {
  readonly database: Database;
  /** Finds the verified domain of a workspace that covers a name (lower-case ASCII). */
  findSendingDomain(workspaceId: string, name: string): Promise<object | null>;
}

type Columns = Record<string, Parameter>;

/** Changes the settings of the caller's workspace that the body names; null takes a setting back. @throws Unavailable */
export async function patchWorkspace(
  { database, findSendingDomain }: SettingsDeps,
  { workspaceId }: Principal,
  body: WorkspacePatch,
): Promise<Failure | null> {
  const problems = new Problems();
  const columns = { ...settingsOf(body, problems.report), ...brandingOf(body.branding, problems.report) };
  const muted = await mutedBy(database, workspaceId, body.serviceEmails);
  const sender = await senderOf(body.defaultFrom, problems.report, (domain) =>
    findSendingDomain(workspaceId, domain),
  );
  const failure = problems.failure();
  if (failure) return failure;
  const values = Object.entries({ ...columns, ...muted, ...sender });
  // `branding: {}` names nothing.
  if (values.length === 0) return null;
  const assignments = values.map(([name], index) => `${name} = $${index + 2}`).join(', ');
  await database.query(`update workspaces set ${assignments} where id = $1`, [
    workspaceId,
    ...values.map(([, value]) => value),
  ]);
  return null;
}

/** The kinds of emails that the workspace does without, once the body has been followed. */
async function mutedBy(
  database: Database,
  workspaceId: string,
  wanted: WorkspacePatch['serviceEmails'],
): Promise<Columns> {
  if (!wanted) return {};
  const [row] = await database.query<{ muted_emails: readonly string[] }>(
    'select muted_emails from workspaces where id = $1',
    [workspaceId],
  );
  const before = new Set(row?.muted_emails ?? []);
  return { muted_emails: MUTABLE_EMAILS.filter((kind) => !(wanted[kind] ?? !before.has(kind))) };
}

const given = (name: string, value: string | null | undefined): Columns =>
  value === undefined ? {} : { [name]: value };

function settingsOf({ name, defaultReplyTo, timeZone }: WorkspacePatch, report: Report): Columns {
  if (name !== undefined && hasUnseen(name)) report('/body/name', UNSEEN);
  const zone = timeZone === undefined ? undefined : zones.nameOf(timeZone);
  if (zone === null) report('/body/timeZone', NO_ZONE);
  return {
    ...given('name', name?.trim()),
    ...given('default_reply_to', addressOf(defaultReplyTo, '/body/defaultReplyTo', report)?.text),
    ...(defaultReplyTo === null && { default_reply_to: null }),
    ...given('time_zone', zone),
  };
}

function brandingOf(branding: WorkspacePatch['branding'], report: Report): Columns {
  const { colour, address, website } = branding ?? {};
  if (address?.split('\n').some(hasControls)) report('/body/branding/address', UNSEEN);
  if (address?.trim() === '') report('/body/branding/address', 'Must not be blank; null takes it back.');
  if (typeof website === 'string' && !isWebsite(website)) report('/body/branding/website', NO_WEBSITE);
  return {
    ...given('colour', colour?.toLowerCase() ?? colour),
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
