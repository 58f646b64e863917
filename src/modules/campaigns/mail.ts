import { BatchedRead } from '../../async/batched-read.ts';
import type { Signer } from '../../crypto/signer.ts';
import type { Database } from '../../db/database.ts';
import { timeOfId } from '../../db/ids.ts';
import { Unavailable } from '../../errors/unavailable.ts';
import { Failure } from '../../http/failure.ts';
import { isProblem, parseAddress } from '../../mail/address.ts';
import type { CampaignEmail, CampaignMail, CampaignParts, Leave } from '../emails/queries.ts';
import { preferencesPath } from '../preferences/queries.ts';
import type { TemplateContents } from '../templates/commands.ts';
import type { KeptContent } from './content.ts';
import { addressHash } from './follow-emails.ts';

/** What making the emails of campaigns takes. */
export interface MailDeps {
  readonly database: Database;
  readonly signer: Signer;
  readonly contents: TemplateContents;
  /** This service's own address, without a slash at its end. */
  readonly publicUrl: string;
}

/**
 * Who may get their emails: their campaign sends, or has sent everything; they are still contacts, subscribed, and in the audience
 * where that is one that can be left. $1 is the campaigns and keys that are asked about.
 */
const ASKED = `select a.campaign as campaign_id, a.key, c.state, t.status, (k.content ->> 'isStatic')::boolean as is_static,
  (select true from audience_members m where m.audience_id = k.content ->> 'audienceId' and m.contact_id = t.id
    and m.state = 'joined') as is_member
from json_to_recordset($1::text::json) as a(campaign text, key text)
join campaigns c on c.id = a.campaign join campaign_contents k on k.campaign_id = c.id
left join campaign_recipients r on r.campaign_id = c.id and r.address_hash = ${addressHash('a.key')}
left join contacts t on t.workspace_id = c.workspace_id and t.livemode = c.livemode and t.id = r.contact_id`;

interface AskedRow {
  readonly campaign_id: string;
  readonly key: string;
  readonly state: string;
  readonly status: string | null;
  readonly is_static: boolean;
  readonly is_member: boolean | null;
}

const STATE = 'select state from campaigns where id = $1';
const CONTENT = `select k.content::text as content from campaign_contents k where k.campaign_id = $1`;

/** Contents that are kept, and for how long: a campaign that was started again may say something else. */
const MOST_KEPT = 100;
const FRESH_MS = 10_000;
/** A fifth of the second in which a pause has to hold. */
const HELD_FRESH_MS = 200;

/** How the emails of campaigns are made and held back. */
export function campaignMail({ database, signer, contents, publicUrl }: MailDeps): CampaignMail {
  const asked = new BatchedRead<CampaignEmail, AskedRow | null>('recipients of campaigns', async (emails) => {
    const rows = await database.query<AskedRow>(ASKED, [
      JSON.stringify(
        emails.map(({ campaignId, recipientKey }) => ({ campaign: campaignId, key: recipientKey })),
      ),
    ]);
    const byKey = new Map(rows.map((row) => [`${row.campaign_id} ${row.key}`, row]));
    return ({ campaignId, recipientKey }) => byKey.get(`${campaignId} ${recipientKey}`) ?? null;
  });
  const isHeld = heldCampaigns(database);
  const kept = contentCache(database);

  return {
    async mayLeave(email) {
      const row = await asked.ask(email);
      return row ? leaveOf(row) : { skipped: 'excluded' };
    },
    isHeld,
    async parts(email, { campaign: { contact } }) {
      const content = await kept(email.campaignId);
      return content && render({ signer, contents, publicUrl }, email, content, contact);
    },
  };
}

/**
 * Whether a campaign is held, as of a moment ago: its emails ask one by one, and a pause is to hold within a second.
 */
function heldCampaigns(database: Database): (campaignId: string) => Promise<boolean> {
  const known = new Map<string, { readonly isHeld: Promise<boolean>; readonly until: number }>();
  const read = async (id: string): Promise<boolean> => {
    const [row] = await database.query<{ state: string }>(STATE, [id]);
    return row?.state !== 'sending' && row?.state !== 'sent';
  };
  return (id) => {
    const now = performance.now();
    const entry = known.get(id);
    if (entry && entry.until > now) return entry.isHeld;
    if (known.size >= MOST_KEPT) known.clear();
    const isHeld = read(id);
    isHeld.catch(() => known.delete(id));
    known.set(id, { isHeld, until: now + HELD_FRESH_MS });
    return isHeld;
  };
}

function leaveOf({ state, status, is_static: isStatic, is_member: isMember }: AskedRow): Leave {
  if (state === 'paused') return 'held';
  // What a campaign has given out does not leave once it was ended.
  if (state !== 'sending' && state !== 'sent') return { skipped: 'cancelled' };
  if (status !== 'subscribed') return { skipped: status ?? 'unsubscribed' };
  return isStatic && isMember !== true ? { skipped: 'unsubscribed' } : 'now';
}

/** The fields by which mail programs tell a list, and by which Gmail tells whose complaints it counts. */
function headersOf(
  { campaignId, workspaceId }: CampaignEmail,
  { audienceId, from }: KeptContent,
): CampaignParts['headers'] {
  const read = parseAddress(from);
  const host = isProblem(read) ? 'invalid' : read.domain;
  return [
    { name: 'Precedence', value: 'bulk' },
    // RFC 2919 2: a label and a domain that its owner controls.
    { name: 'List-Id', value: `<${audienceId.replace('_', '-')}.${host}>` },
    { name: 'Feedback-ID', value: `${campaignId}:${audienceId}:${workspaceId}:posthorn` },
  ];
}

async function render(
  { signer, contents, publicUrl }: Omit<MailDeps, 'database'>,
  email: CampaignEmail,
  kept: KeptContent,
  contact: Readonly<Record<string, unknown>>,
): Promise<CampaignParts | null> {
  const { campaignId, workspaceId, recipientKey: key, emailId } = email;
  const rendered = await contents.render({
    ...{ workspaceId, key: `${campaignId} ${kept.startedAt}`, content: kept.content, values: kept.values },
    circumstances: {
      contact,
      campaign: { name: kept.name },
      preferencesUrl: publicUrl + preferencesPath(signer, { workspaceId, livemode: true, key }),
    },
    ...{ now: timeOfId(emailId), at: '/body', purpose: 'send' },
  });
  if (rendered instanceof Failure) {
    if (rendered.code === 'SERVICE_UNAVAILABLE') throw new Unavailable(rendered.message);
    return null;
  }
  const { subject, html, text } = rendered.parts;
  return {
    subject: subject ?? kept.subject,
    html,
    text,
    headers: headersOf(email, kept),
    audienceId: kept.audienceId,
  };
}

/** Reads the contents of campaigns; those that were asked for last are kept for a while. */
function contentCache(database: Database): (campaignId: string) => Promise<KeptContent | null> {
  const known = new Map<string, { readonly content: Promise<KeptContent | null>; readonly until: number }>();
  const read = async (id: string): Promise<KeptContent | null> => {
    const [row] = await database.query<{ content: string }>(CONTENT, [id]);
    return row ? (JSON.parse(row.content) as KeptContent) : null;
  };
  return (id) => {
    const now = performance.now();
    const entry = known.get(id);
    if (entry && entry.until > now) return entry.content;
    known.delete(id);
    for (const oldest of known.keys()) {
      if (known.size < MOST_KEPT) break;
      known.delete(oldest);
    }
    const content = read(id);
    content.catch(() => known.delete(id));
    known.set(id, { content, until: now + FRESH_MS });
    return content;
  };
}
