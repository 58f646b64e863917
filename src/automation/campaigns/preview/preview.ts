import { findContact } from '../../../audience/contacts/queries.ts';
import { SHOWN_PREFERENCES, TEST_EXIT } from '../../../audience/preferences/queries.ts';
import { lackOf } from '../../../http/auth/principal.ts';
import { isOutdated } from '../../../http/if-updated-at.ts';
import type { Call, Replay } from '../../../http/request/route.ts';
import type { PreviewWarnings } from '../../../mail/check/preview-warnings.ts';
import { textPartOf } from '../../../mail/content/text-part.ts';
import { withTestExit, withWayOut } from '../../../mail/html/way-out.ts';
import { Failure, notFound } from '../../../platform/errors/failure.ts';
import { firstCharacters } from '../../../platform/errors/text-length.ts';
import { acceptEmail } from '../../../sending/emails/accept.ts';
import type { EmailReceipt } from '../../../sending/emails/queries.ts';
import { findStrangers, testExitFor } from '../../templates/commands.ts';
import { CHANGED } from '../commands.ts';
import type { CampaignDeps } from '../deps.ts';
import { type CampaignRow, changedAtOf, findCampaign, NO_CAMPAIGN } from '../queries.ts';
import {
  BARE_CONTACT,
  contentFor,
  findKeptContent,
  type KeptContent,
  readyContent,
  usedOf,
} from './content.ts';
import type { PreviewQuery, PreviewView, TestSendBody } from './preview-model.ts';

type PreviewContent = Omit<PreviewView, 'text' | 'warnings'> & {
  readonly text: string | null;
  readonly warnings: PreviewWarnings['ofContent'];
  readonly replyTo: readonly string[];
};

/**
 * The content that leaves: what was stored at the start of the campaign, else what it would start with now.
 */
async function shownContent(
  { database, contents }: CampaignDeps,
  { caller, now }: Pick<Call, 'caller' | 'now'>,
  { id, settings }: CampaignRow,
  contact: Readonly<Record<string, unknown>>,
): Promise<Omit<KeptContent, 'isStatic' | 'startedAt'> | Failure> {
  const kept = await findKeptContent(database, id);
  if (kept) return kept;
  const { workspaceId, livemode, senderDefaults: defaults } = caller;
  const ready = await readyContent(contents, { workspaceId, livemode, defaults }, settings, now, { contact });
  return ready instanceof Failure ? ready : ready.kept;
}

/** Renders the message that a contact would get of a campaign, by the same code as the real one. */
async function renderFor(
  deps: CampaignDeps,
  { caller, now }: Pick<Call, 'caller' | 'now'>,
  row: CampaignRow,
  contactId: string | undefined,
  preferencesPath: string,
): Promise<PreviewContent | Failure> {
  const { database, contents, publicUrl, mailReader } = deps;
  const refusal = contactId === undefined ? null : lackOf('contacts:read', caller);
  if (refusal) return refusal;
  const contact = contactId === undefined ? BARE_CONTACT : await findContact({ database }, caller, contactId);
  if (!contact) return notFound('contact');
  const shown = await shownContent(deps, { caller, now }, row, contact);
  if (shown instanceof Failure) return shown;
  const { workspaceId } = caller;
  const { values, name, from, replyTo } = shown;
  const used = usedOf(shown, contact);
  const content = contentFor(shown, used);
  const subject = content.subject ?? shown.subject;
  const rendered = await contents.render({
    workspaceId,
    key: null,
    content,
    values,
    now,
    circumstances: {
      contact: used,
      campaign: { name },
      // A member who may read a campaign must not choose for its recipients.
      preferencesUrl: publicUrl + preferencesPath,
    },
    at: '/body',
    purpose: 'preview',
  });
  if (rendered instanceof Failure) return rendered;
  const { html: ownHtml, text: ownText } = rendered.parts;
  // A real email has its text from the html of the author, and each part its own link after that.
  const own = { html: ownHtml, text: textPartOf(rendered.parts) };
  const { html, text } = withWayOut(own, content.language);
  // It asks for no warnings of tags.
  const { ofContent: warnings } = await mailReader.warnings(
    {
      parts: { html, text: ownText === null ? null : text },
      forLists: { html: ownHtml, text: ownText },
      counted: {
        opens: shown.trackOpens === true,
        clicks: shown.trackClicks === true,
      },
      hasLines: null,
    },
    workspaceId,
  );
  const { language } = content;
  return { from, language, subject: rendered.parts.subject ?? subject, html, text, replyTo, warnings };
}

/** Shows what a contact would get. Nothing is sent. */
export async function previewCampaign(
  deps: CampaignDeps,
  call: Call<{ readonly id: string }, PreviewQuery>,
): Promise<PreviewView | Failure> {
  const row = await findCampaign(deps, call.caller, call.params.id);
  if (!row) return NO_CAMPAIGN;
  const shown = await renderFor(deps, call, row, call.query.contactId, SHOWN_PREFERENCES);
  if (shown instanceof Failure) return shown;
  const { from, language, subject, html, text, warnings } = shown;
  return {
    from,
    language,
    subject,
    html,
    text,
    warnings: warnings.map(({ code, message }) => ({ code, message })),
  };
}

/**
 * Sends a campaign to colleagues: a real email that counts against the quota, and in no number of the
 * campaign.
 */
export async function testSendCampaign(
  deps: CampaignDeps,
  call: Call<{ readonly id: string }, unknown, TestSendBody>,
): Promise<EmailReceipt | Failure | Replay> {
  const { caller, body, claim, now } = call;
  const row = await findCampaign(deps, caller, call.params.id);
  if (!row) return NO_CAMPAIGN;
  if (isOutdated(body, changedAtOf(row))) return CHANGED;
  const strangers = await findStrangers(
    { acceptance: () => deps.acceptance, isMember: deps.isMember },
    caller,
    body.to,
  );
  if (strangers) return strangers;
  const shown = await renderFor(deps, call, row, body.contactId, TEST_EXIT);
  if (shown instanceof Failure) return shown;
  const { from, language, subject, html, text, replyTo } = shown;
  const exitUrl = await testExitFor(deps, caller, body.to);
  return acceptEmail(deps.acceptance, {
    sender: caller,
    claim,
    now,
    at: '/body',
    status: 200,
    body: {
      from,
      to: body.to,
      subject: firstCharacters(`[Test] ${subject}`, 998),
      ...(replyTo.length > 0 && { replyTo: [...replyTo] }),
      ...(language !== null && { language }),
      ...(html !== null && { html: withTestExit(html, exitUrl) }),
      ...(text !== null && { text: withTestExit(text, exitUrl) }),
    },
  });
}
