import type { WithheldReason } from '../../../../machines/email/recipient.ts';
import { preferencesPath, SHOWN_PREFERENCES } from '../../../audience/preferences/queries.ts';
import { textPartOf } from '../../../mail/content/text-part.ts';
import { withWayOut } from '../../../mail/html/way-out.ts';
import { BatchedRead } from '../../../platform/async/batched-read.ts';
import { LruMap } from '../../../platform/async/lru-map.ts';
import { TtlCache } from '../../../platform/async/ttl-cache.ts';
import type { Signer } from '../../../platform/crypto/signer.ts';
import type { Database } from '../../../platform/db/database.ts';
import { timeOfId } from '../../../platform/db/ids.ts';
import { Failure, invalidAt } from '../../../platform/errors/failure.ts';
import { UnavailableError } from '../../../platform/errors/unavailable.ts';
import { isProblem, parseAddress } from '../../../platform/text/address.ts';
import type { MonotonicClock } from '../../../platform/time/monotonic.ts';
import {
  type CampaignEmail,
  type CampaignMail,
  type CampaignParts,
  type CampaignSendState,
  problemOfLength,
  type ReadCampaignEmail,
} from '../../../sending/emails/queries.ts';
import { actSql } from '../../../sending/suppressions/queries.ts';
import type { TemplateContents } from '../../templates/commands.ts';
import type { CampaignDeps } from '../deps.ts';
import { contentFor, findWeighedContent, type KeptContent, type WeighedContent } from '../preview/content.ts';
import { addressHash } from './follow-emails.ts';
import { renderKept } from './render.ts';
import { kindOfSubject } from './subjects.ts';

type Reference = Parameters<CampaignMail['parts']>[1]['campaign'];

export interface MailDeps {
  readonly database: Database;
  readonly signer: Signer;
  readonly contents: TemplateContents;
  /** This service's own address, without a slash at its end. */
  readonly publicUrl: string;
  readonly monotonic: MonotonicClock;
}

/** A sent campaign that was deleted still sends its deferred emails. */
const STANDING = `case when c.state = 'deleted' and c.context ->> 'completedAt' is not null then 'sent' else c.state end as state`;

/**
 * The reasons why recipients no longer get their emails; null for those who do. $1 is the campaigns and keys
 * of the question. Lateral, so that each is looked up by its whole key: by the campaign's alone, every
 * recipient of it was read for each email.
 */
const ASKED = `select asked.campaign as campaign_id, asked.key, coalesce(${actSql({
  contact: 'c',
  contactId: 'r.contact_id',
  audience: { audienceId: 'k.audience_id', since: 'asked.campaign' },
})}, case when c.email_key is distinct from asked.key and c.id is not null then 'invalid' end) as reason
from json_to_recordset($1::text::json) as asked(workspace text, campaign text, key text)
left join campaign_contents k on k.campaign_id = asked.campaign
left join lateral (
  select r.contact_id from campaign_recipients r where r.campaign_id = asked.campaign and r.address_hash = ${addressHash('asked.key')} limit 1
) r on true
left join lateral (
  select * from contacts c where c.workspace_id = asked.workspace and c.livemode and c.id = r.contact_id limit 1
) c on true`;

interface AskedRow {
  readonly campaign_id: string;
  readonly key: string;
  readonly reason: WithheldReason | null;
}

const STATE = `select ${STANDING} from campaigns c where c.id = $1`;

/** Contents that are kept, and for how long: a campaign that was started again may say something else. */
const MOST_KEPT = 100;
/** Their characters together, in which two of the largest fit: one has up to 22 million in its languages. */
const MOST_CHARACTERS = 50_331_648;
const FRESH_MS = 10_000;
/** An email whose rendering takes too long so many times, five seconds apart, is no busy machine's fault. */
const MOST_TRIES = 10;
const MOST_TRIED = 10_000;
const SLOW = 'The template takes too long to render.';
/** A fifth of the second in which a pause has to hold. */
const HELD_FRESH_MS = 200;

/** Makes and holds back the emails of campaigns. */
export function campaignMail({
  database,
  signer,
  contents,
  publicUrl,
  monotonic,
}: MailDeps): CampaignMail & Pick<CampaignDeps, 'forgetStanding'> {
  const asked = new BatchedRead<CampaignEmail, AskedRow | null>('recipients of campaigns', async (emails) => {
    const rows = await database.query<AskedRow>(ASKED, [
      JSON.stringify(
        emails.map(({ workspaceId, campaignId, recipientKey }) => ({
          workspace: workspaceId,
          campaign: campaignId,
          key: recipientKey,
        })),
      ),
    ]);
    const byKey = new Map(rows.map((row) => [`${row.campaign_id} ${row.key}`, row]));
    return ({ campaignId, recipientKey }) => byKey.get(`${campaignId} ${recipientKey}`) ?? null;
  });
  const { standing, forget: forgetStanding } = standings(database, monotonic);
  const kept = contentCache(database, monotonic);
  const tried = new LruMap<string, number>({ entries: MOST_TRIED });
  const isHopeless = (emailId: string): boolean => {
    const tries = (tried.get(emailId) ?? 0) + 1;
    if (tries < MOST_TRIES) tried.set(emailId, tries);
    else tried.delete(emailId);
    return tries >= MOST_TRIES;
  };

  return {
    async mayLeave(email) {
      const reason = (await asked.ask(email))?.reason ?? null;
      return reason === null ? 'now' : { skipped: reason };
    },
    standing,
    forgetStanding,
    async parts({ campaignId, subject, ...email }, { campaign }, purpose) {
      const content = await kept(campaignId);
      if (!content) return null;
      const { workspaceId, recipientKey: key } = email;
      const { language } = contentFor(content, campaign.contact);
      const path =
        purpose === 'show'
          ? SHOWN_PREFERENCES
          : preferencesPath(signer, {
              workspaceId,
              livemode: true,
              key,
              language,
              copy: { emailId: email.emailId, campaignId, audienceId: content.audienceId },
            });
      const links = { own: publicUrl + path, shown: publicUrl + SHOWN_PREFERENCES };
      const made = await render(contents, { ...email, campaignId, subject }, content, campaign, links);
      // A copy that leaves gets its way to unsubscribe when it is written, in a thread.
      if (!(made instanceof Failure))
        return purpose === 'show' ? withWayOut({ ...made, text: textPartOf(made) }, language) : made;
      const { code, message, extra } = made;
      if (code !== 'SERVICE_UNAVAILABLE')
        return extra.details?.map((detail) => detail.message).join(' ') ?? message;
      if (purpose === 'send' && isHopeless(email.emailId)) return SLOW;
      throw new UnavailableError(message);
    },
  };
}

interface Standings {
  standing(campaignId: string): Promise<CampaignSendState>;
  forget(campaignId: string): void;
}

/**
 * The states of campaigns, as of a moment ago: their emails ask one by one, and a pause at another instance
 * has to take effect within a second.
 */
function standings(database: Database, monotonic: MonotonicClock): Standings {
  // An answer that comes late is as old as its question, so nothing joins a question that is older than a
  // value may be.
  const known = new TtlCache<CampaignSendState>({
    forMs: () => HELD_FRESH_MS,
    sharedMs: HELD_FRESH_MS,
    atMost: MOST_KEPT,
    monotonic,
  });
  const read = async (id: string): Promise<CampaignSendState> => {
    const [row] = await database.query<{ state: string }>(STATE, [id]);
    return standingOf(row?.state);
  };
  return { standing: (id) => known.get(id, () => read(id)), forget: (id) => known.delete(id) };
}

const standingOf = (state: string | undefined): CampaignSendState =>
  state === 'paused' ? 'held' : state === 'sending' || state === 'sent' ? 'sends' : 'ended';

/** The header fields by which mail programs recognise a list, and by which Gmail attributes complaints. */
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

/** The page where the recipient chooses, and one that others may see in its place. */
interface Links {
  readonly own: string;
  readonly shown: string;
}

/**
 * Renders an email. A subject that was stored once leaves unchanged in each attempt, even where the workspace
 * has another name by then.
 */
async function render(
  contents: TemplateContents,
  email: ReadCampaignEmail,
  kept: KeptContent,
  { contact, hasSubject }: Reference,
  { own: preferencesUrl, shown }: Links,
): Promise<CampaignParts | Failure> {
  const { campaignId, workspaceId, emailId } = email;
  const kind = kindOfSubject(kept);
  const isStored = hasSubject === true || (kind === 'own' && email.subject !== kept.subject);
  const rendering = { campaignId, workspaceId, createdAt: timeOfId(emailId), contact, preferencesUrl };
  const rendered = await renderKept(contents, rendering, kept, isStored ? 'body' : 'all');
  if (rendered instanceof Failure) return rendered;
  const { html, text } = rendered.parts;
  const subject = isStored ? null : (rendered.parts.subject ?? kept.subject);
  const tooLong = subject === null ? null : problemOfLength(subject);
  if (tooLong !== null) return invalidAt('/body/subject', tooLong);
  const bare =
    kind === 'secret'
      ? await renderKept(contents, { ...rendering, preferencesUrl: shown }, kept, 'subject')
      : null;
  if (bare instanceof Failure) return bare;
  const shownSubject = bare ? bare.parts.subject : subject;
  return {
    subject,
    ...(shownSubject !== null && { shownSubject }),
    html,
    text,
    headers: headersOf(email, kept),
    templateVersion: kept.templateVersion ?? null,
    audienceId: kept.audienceId,
  };
}

/** Reads the contents of campaigns, and keeps the most recent ones for a while. */
function contentCache(
  database: Database,
  monotonic: MonotonicClock,
): (campaignId: string) => Promise<KeptContent | null> {
  const known = new TtlCache<WeighedContent | null>({
    forMs: () => FRESH_MS,
    sharedMs: FRESH_MS,
    atMost: MOST_KEPT,
    monotonic,
    weight: MOST_CHARACTERS,
    weightOf: (found) => found?.characters ?? 0,
  });
  return async (id) => (await known.get(id, () => findWeighedContent(database, id)))?.kept ?? null;
}
