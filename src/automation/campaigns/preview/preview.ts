import { findContact } from '../../../audience/contacts/queries.ts';
import { SHOWN_PREFERENCES } from '../../../audience/preferences/queries.ts';
import { isOutdated } from '../../../http/if-updated-at.ts';
import type { Call, Replay } from '../../../http/request/route.ts';
import {
  type ContentWarning,
  filterWarnings,
  wayOutWarnings,
} from '../../../mail/content/filter-warnings.ts';
import { textPartOf } from '../../../mail/content/text-part.ts';
import { withWayOut } from '../../../mail/html/way-out.ts';
import { Failure, notFound } from '../../../platform/errors/failure.ts';
import { firstCharacters } from '../../../platform/errors/text-length.ts';
import { acceptEmail } from '../../../sending/emails/accept.ts';
import type { EmailReceipt } from '../../../sending/emails/queries.ts';
import { findStrangers } from '../../templates/commands.ts';
import { CHANGED } from '../commands.ts';
import type { CampaignDeps } from '../deps.ts';
import { type CampaignRow, changedAtOf, findCampaign, NO_CAMPAIGN } from '../queries.ts';
import { BARE_CONTACT, readyContent, usedOf } from './content.ts';
import type { PreviewQuery, PreviewView, TestSendBody } from './preview-model.ts';

type PreviewContent = Omit<PreviewView, 'text' | 'warnings'> & {
  readonly text: string | null;
  readonly warnings: readonly ContentWarning[];
  readonly replyTo: readonly string[];
};

/**
 * Renders the message that a contact would get of a campaign as it is set now, by the same code as the real
 * one.
 */
async function renderFor(
  { database, contents, publicUrl }: CampaignDeps,
  { caller, now }: Pick<Call, 'caller' | 'now'>,
  row: CampaignRow,
  contactId: string | undefined,
): Promise<PreviewContent | Failure> {
  const contact = contactId === undefined ? BARE_CONTACT : await findContact({ database }, caller, contactId);
  if (!contact) return notFound('contact');
  const { workspaceId, livemode, senderDefaults: defaults } = caller;
  const ready = await readyContent(contents, { workspaceId, livemode, defaults }, row.settings, now);
  if (ready instanceof Failure) return ready;
  const { content, values, name, from, subject, replyTo } = ready.kept;
  const rendered = await contents.render({
    ...{ workspaceId, key: null, content, values, now },
    circumstances: {
      contact: usedOf(content, contact),
      campaign: { name },
      // A member who may read a campaign must not choose for its recipients.
      preferencesUrl: publicUrl + SHOWN_PREFERENCES,
    },
    ...{ at: '/body', purpose: 'preview' },
  });
  if (rendered instanceof Failure) return rendered;
  const parts = withWayOut(rendered.parts);
  const { html, text } = parts;
  const warnings = [
    ...wayOutWarnings(rendered.parts),
    ...filterWarnings(parts, {
      opens: row.settings.trackOpens === true,
      clicks: row.settings.trackClicks === true,
    }),
  ];
  return { from, subject: parts.subject ?? subject, html, text, replyTo, warnings };
}

/** Shows what a contact would get. Nothing is sent. */
export async function previewCampaign(
  deps: CampaignDeps,
  call: Call<{ readonly id: string }, PreviewQuery>,
): Promise<PreviewView | Failure> {
  const row = await findCampaign(deps, call.caller, call.params.id);
  if (!row) return NO_CAMPAIGN;
  const shown = await renderFor(deps, call, row, call.query.contactId);
  if (shown instanceof Failure) return shown;
  const { from, subject, html, text, warnings } = shown;
  return { from, subject, html, text: textPartOf({ html, text }), warnings: [...warnings] };
}

/** Sends a campaign to colleagues: a real email that counts against the quota, and in no number of the campaign. */
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
  const shown = await renderFor(deps, call, row, body.contactId);
  if (shown instanceof Failure) return shown;
  const { from, subject, html, text, replyTo } = shown;
  return acceptEmail(deps.acceptance, {
    ...{ sender: caller, claim, now, at: '/body', status: 200 },
    body: {
      ...{ from, to: body.to, subject: firstCharacters(`[Test] ${subject}`, 998) },
      ...(replyTo.length > 0 && { replyTo: [...replyTo] }),
      ...(html !== null && { html }),
      ...(text !== null && { text }),
    },
  });
}
