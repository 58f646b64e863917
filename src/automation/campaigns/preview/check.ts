import type { Scope } from '../../../audience/contacts/queries.ts';
import { SHOWN_PREFERENCES } from '../../../audience/preferences/queries.ts';
import type { Call } from '../../../http/request/route.ts';
import { CLIPPED, type FoundProblem, MOST_COUNTED } from '../../../mail/check/codes.ts';
import { textPartOf } from '../../../mail/content/text-part.ts';
import { withWayOut } from '../../../mail/html/way-out.ts';
import { contactUsesIn } from '../../../mail/liquid/places.ts';
import { Failure } from '../../../platform/errors/failure.ts';
import { CONTACT_FIELDS, isContactField } from '../../../platform/text/contact-fields.ts';
import {
  answerOf,
  type ChecksApi,
  type MessageCheck,
  type PlacedProblem,
} from '../../../sending/checks/api.ts';
import { trialMessage } from '../../../sending/checks/commands.ts';
import {
  askedLanguage,
  bodyPath,
  chosenLanguage,
  contentIn,
  languageNotes,
  notRendered,
  placedIn,
  type StoredContent,
  sourceOf,
} from '../../templates/commands.ts';
import type { CampaignDeps } from '../deps.ts';
import { findCampaign, NO_CAMPAIGN } from '../queries.ts';
import { choose, countEmpty, type UsedMember } from '../sending/audience.ts';
import type { CampaignSettings } from '../settings.ts';
import { BARE_CONTACT, readyContent, usedOf } from './content.ts';
import type { CheckQuery } from './preview-model.ts';

/** Finds what is wrong with a campaign as it is set now, in its language or the one that is asked for. */
export async function checkCampaign(
  deps: CampaignDeps & Pick<ChecksApi, 'check'>,
  { caller, params, query, now }: Call<{ readonly id: string }, CheckQuery>,
): Promise<MessageCheck | Failure> {
  const asked = askedLanguage(query.language, '/query/language');
  if (asked instanceof Failure) return asked;
  const row = await findCampaign(deps, caller, params.id);
  if (!row) return NO_CAMPAIGN;
  const { workspaceId, livemode, senderDefaults: defaults } = caller;
  const ready = await readyContent(
    deps.contents,
    { workspaceId, livemode, defaults },
    row.settings,
    now,
    'trial',
  );
  if (ready instanceof Failure) return answerOf(notRendered(ready, '/html'));
  const { values, name } = ready.kept;
  // The language of the campaign is that of each of its emails, whatever the contacts prefer.
  const wanted = row.settings.language ?? asked;
  const translation = chosenLanguage(ready.kept.content, wanted);
  const content = contentIn(ready.kept.content, translation);
  const rendered = await deps.contents.render({
    workspaceId,
    key: null,
    content,
    values,
    now,
    circumstances: {
      contact: usedOf(ready.kept, BARE_CONTACT),
      campaign: { name },
      preferencesUrl: deps.publicUrl + SHOWN_PREFERENCES,
    },
    at: '/body',
    purpose: 'preview',
  });
  if (rendered instanceof Failure) return answerOf(notRendered(rendered, '/html'));
  // A link is added for readers who do not see that of the author: the check looks at the text of the author.
  const { subject, html, text } = rendered.parts;
  const left = withWayOut({ html, text: textPartOf({ html, text }) }, content.language);
  const { address: from } = ready.sender;
  const [problems, empty] = await Promise.all([
    deps.check({
      workspaceId,
      clippedAt: CLIPPED,
      looked: { html, text, source: sourceOf(content), as: 'list', exit: null },
      raw: () => trialMessage({ subject, ...left, from, now }),
    }),
    emptyNames(deps, { workspaceId, livemode }, row.settings, content, now),
  ]);
  const notes = languageNotes(ready.kept.content, { asked: wanted, translation, content });
  const found = [...problems, ...empty, ...notes.map((note) => ({ ...note, at: null }))];
  // The answer of GET for a campaign has no layers.
  const placed = await placedIn(content, found, bodyPath(content), () => Promise.resolve(null));
  return answerOf(row.settings.templateId === null ? placed : placed.map(ofTemplate));
}

/**
 * A problem in the template of a campaign: its lines are those of the template, in the translation that is
 * checked.
 */
const ofTemplate = (problem: PlacedProblem): PlacedProblem => ({
  ...problem,
  path: problem.path === null ? null : '/templateId',
});

/** The most names that are counted, and that are looked at. */
const MOST_NAMES = 20;
const MOST_LOOKED_AT = 200;
const PROPERTY = /^contact\.properties(?:\.|\[['"])([A-Za-z]\w*)/;
const FIELD = /^contact\.(\w+)$/;

/** A name that is written out, and the offset of its first place in the source; null for none. */
interface NameUse {
  readonly name: string;
  readonly at: number | null;
}

/**
 * The members of contacts that are written out without a default and without a condition, the first few of
 * them.
 */
export function writtenOut(
  content: Pick<StoredContent, 'sources' | 'names'>,
  body: string,
): (NameUse & UsedMember)[] {
  const { subject, previewText, text } = content.sources;
  const own = contactUsesIn(body);
  const uses = [own, ...[subject, previewText, text].map((part) => contactUsesIn(part ?? ''))];
  const found: (NameUse & UsedMember)[] = [];
  for (const name of content.names.filter((each) => each.startsWith('contact.')).slice(0, MOST_LOOKED_AT)) {
    if (found.length === MOST_NAMES) break;
    if (uses.some(({ conditions }) => conditions.has(name))) continue;
    if (!uses.some(({ written }) => written.has(name))) continue;
    const use = { name, at: own.written.get(name) ?? null };
    const [, field] = FIELD.exec(name) ?? [];
    const [, property] = PROPERTY.exec(name) ?? [];
    if (field !== undefined && isContactField(field))
      found.push({ ...use, column: CONTACT_FIELDS[field].column });
    else if (property !== undefined) found.push({ ...use, property });
  }
  return found;
}

/** Placeholders that stay empty for some contacts, counted over the audience by one statement. */
async function emptyNames(
  { database }: Pick<CampaignDeps, 'database'>,
  scope: Scope,
  settings: CampaignSettings,
  content: StoredContent,
  now: number,
): Promise<FoundProblem[]> {
  const asked = writtenOut(content, sourceOf(content)?.text ?? '');
  if (asked.length === 0) return [];
  const chosen = await choose(database, scope, settings, now);
  if (!chosen) return [];
  const { total, empty } = await countEmpty(database, chosen, asked, MOST_COUNTED);
  return asked.flatMap(({ name, at }, index): FoundProblem[] => {
    const count = empty[index] ?? 0;
    if (count === 0) return [];
    const of = `${count.toLocaleString('en')} of ${total >= MOST_COUNTED ? 'the first ' : ''}${total.toLocaleString('en')} contacts`;
    return [
      {
        code: 'empty_placeholder',
        message: `{{ ${name} }} stays empty for ${of}. Write {{ ${name} | default: "…" }}, or leave the words around it out by {% if ${name} %}.`,
        at,
      },
    ];
  });
}
