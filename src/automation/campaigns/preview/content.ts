import { readHtml } from '../../../mail/html/read-html.ts';
import { piecesOf } from '../../../mail/liquid/pieces.ts';
import { estimateSize } from '../../../mail/message/message-size.ts';
import type { Database } from '../../../platform/db/database.ts';
import { Failure, invalid, invalidAt } from '../../../platform/errors/failure.ts';
import { type Address, isProblem, parseAddress } from '../../../platform/text/address.ts';
import { type ContactTexts, eachField, fieldsOf } from '../../../platform/text/contact-fields.ts';
import { ownOf } from '../../../platform/text/own-member.ts';
import { withCodedSpaces } from '../../../sending/tracking/api.ts';
import type { StoredContent, TemplateContents } from '../../templates/commands.ts';
import { chosenLanguage, contentIn, inEachLanguage, languageOfContact } from '../../templates/commands.ts';
import { type CampaignSettings, compileOwn } from '../settings.ts';
import { missing } from './missing.ts';

/** A link as its author wrote it, and the SQL pattern of the addresses that it becomes. */
export interface WrittenLink {
  readonly url: string;
  readonly pattern: string;
}

/** The content of a campaign, which is stored once for all its recipients when it starts. */
export interface KeptContent {
  readonly content: StoredContent;
  readonly values: Readonly<Record<string, unknown>>;
  readonly name: string;
  readonly from: string;
  readonly replyTo: readonly string[];
  readonly subject: string;
  readonly templateId: string | null;
  /** The version of that template at the start; absent in content that was stored before it was kept. */
  readonly templateVersion?: number | null;
  /**
   * The language of all its emails; each has that of its contact where it is null or, in content from before
   * there were any, absent.
   */
  readonly language?: string | null;
  readonly audienceId: string;
  /** True where a person who leaves that audience gets nothing any more. */
  readonly isStatic: boolean;
  readonly trackOpens: boolean | null;
  readonly trackClicks: boolean | null;
  readonly ratePerHour: number | null;
  readonly canary: CampaignSettings['canary'];
  readonly links: readonly WrittenLink[];
  /** The time of the start, in epoch milliseconds: an earlier start of the campaign had another content. */
  readonly startedAt: number;
}

const KEPT = 'select content::text as content from campaign_contents where campaign_id = $1';

/** A kept content and the characters that it is stored in. */
export interface WeighedContent {
  readonly kept: KeptContent;
  readonly characters: number;
}

/**
 * Reads the content of a campaign that has started; null for one that has not.
 * @throws UnavailableError
 */
export const findKeptContent = async (
  database: Pick<Database, 'query'>,
  campaignId: string,
): Promise<KeptContent | null> => (await findWeighedContent(database, campaignId))?.kept ?? null;

/** The same with its weight, for those who keep it. @throws UnavailableError */
export async function findWeighedContent(
  database: Pick<Database, 'query'>,
  campaignId: string,
): Promise<WeighedContent | null> {
  const [row] = await database.query<{ content: string }>(KEPT, [campaignId]);
  if (!row) return null;
  return { kept: withLanguages(JSON.parse(row.content) as KeptContent), characters: row.content.length };
}

/** Contents that were stored before there were languages lack their members. */
const withLanguages = (kept: KeptContent): KeptContent => ({
  ...kept,
  content: { ...NO_LANGUAGES, ...kept.content },
});
const NO_LANGUAGES = { language: null, translations: {}, translated: {} };

/**
 * The content of a campaign as a contact gets it: in its language, else in that of the contact, else in the
 * template's own.
 */
export const contentFor = (
  { content, language }: Pick<KeptContent, 'content' | 'language'>,
  contact: Readonly<Record<string, unknown>>,
): StoredContent => contentIn(content, language ?? languageOfContact(contact));

/** The content in each language that its emails may have. */
export const languagesOf = ({
  content,
  language,
}: Pick<KeptContent, 'content' | 'language'>): StoredContent[] =>
  language ? [contentIn(content, language)] : inEachLanguage(content);

/**
 * The refusal of a content that cannot be rendered for a contact with nothing but an address, in each of the
 * languages.
 */
async function trialOf(
  contents: TemplateContents,
  workspaceId: string,
  settings: CampaignSettings,
  tried: readonly StoredContent[],
  now: number,
): Promise<Failure | null> {
  for (const inLanguage of tried) {
    const trial = await contents.render({
      workspaceId,
      key: null,
      content: inLanguage,
      values: settings.variables,
      now,
      circumstances: {
        contact: BARE_CONTACT,
        campaign: { name: settings.name },
        preferencesUrl: 'https://example.com/',
      },
      at: '/body',
      purpose: 'preview',
    });
    if (trial instanceof Failure) return trial;
    if (!/\S/.test(trial.parts.subject ?? '')) return invalid([missing('subject')]);
  }
  return null;
}

/** A contact with an address and no other properties. */
export const BARE_CONTACT = {
  email: 'somebody@example.com',
  ...eachField(() => null),
  properties: {},
};

/** The content of a campaign if it started now. */
export interface ReadyContent {
  readonly sender: Address;
  readonly kept: Omit<KeptContent, 'isStatic' | 'startedAt'>;
}

interface ReadyScope {
  readonly workspaceId: string;
  readonly livemode: boolean;
  readonly defaults: { readonly from: string | null; readonly replyTo: string | null };
}

/** A content without its other languages; the same object where it has none. */
const alone = (content: StoredContent): StoredContent =>
  Object.keys(content.translations).length === 0 ? content : { ...content, translations: {}, translated: {} };

/**
 * The use of a ready content: to start with it, to know whether it could start, or to show it to one contact.
 */
type ReadyPurpose = 'start' | 'trial' | { readonly contact: Readonly<Record<string, unknown>> };

/**
 * Makes a campaign ready to be started, or says everything that is missing: sender, subject, and content that
 * renders for a contact with nothing but an address. It has every language, unless one contact sees it, and
 * only a start gets its links: to read them takes this thread. @throws UnavailableError
 */
export async function readyContent(
  contents: TemplateContents,
  { defaults, ...scope }: ReadyScope,
  settings: CampaignSettings,
  now: number,
  purpose: ReadyPurpose,
): Promise<ReadyContent | Failure> {
  const found = settings.templateId === null ? null : await contents.find(scope, settings.templateId);
  if (found instanceof Failure) return found;
  const own = await compileOwn({ contents }, scope, settings, now);
  if (own instanceof Failure) return own;
  const base = found?.content ?? own;
  const from = settings.from ?? base?.from ?? defaults.from;
  const subject = settings.subject ?? base?.subject ?? null;
  const lacks = [
    ...(from === null ? [missing('from')] : []),
    ...(subject === null || !/\S/.test(subject) ? [missing('subject')] : []),
    ...(base === null ? [missing('body')] : []),
  ];
  if (lacks.length > 0 || base === null || from === null || subject === null) return invalid(lacks);
  const sender = parseAddress(from);
  if (isProblem(sender)) return invalid([missing('from')]);
  // A translation keeps its lines where the campaign has none.
  const lines = { subject: settings.subject, previewText: settings.previewText };
  const { language } = settings;
  const whole =
    typeof purpose === 'string' ? base : alone(contentFor({ content: base, language }, purpose.contact));
  const content = await contents.withLines(scope, whole, lines, now);
  if (content instanceof Failure) return content;
  const spoken = languagesOf({ content, language });
  const refused = await trialOf(contents, scope.workspaceId, settings, spoken, now);
  if (refused) return refused;
  const required = spoken
    .flatMap(({ variables, layered }) => [...variables, ...(layered?.inherited ?? [])])
    .filter(({ key, required: must }) => must && (ownOf(settings.variables, key) ?? null) === null);
  if (required.length > 0)
    return invalidAt(
      '/body',
      `Set the variables that the template requires: ${[...new Set(required.map(({ key }) => key))].join(', ')}.`,
    );
  const replies = settings.replyTo.length > 0 ? settings.replyTo : base.replyTo;
  const { name, templateId, audienceId, trackOpens, trackClicks, ratePerHour, canary } = settings;
  return {
    sender,
    kept: {
      content,
      values: settings.variables,
      name,
      from,
      subject,
      templateId,
      language,
      audienceId,
      templateVersion: found?.row.version ?? null,
      replyTo: replies.length > 0 ? replies : defaults.replyTo === null ? [] : [defaults.replyTo],
      trackOpens,
      trackClicks,
      ratePerHour,
      canary,
      links: purpose === 'start' ? linksIn(spoken.map(({ sources }) => sources.html ?? '')) : [],
    },
  };
}

/** The octets that one of its messages is expected to have. */
export const sizeOf = (kept: KeptContent): number =>
  Math.max(
    ...languagesOf(kept).map(({ sources: { text, html } }) =>
      estimateSize({ text, html, attachments: [], headerOctets: 1_024 }),
    ),
  ) + 1_024;

const MOST_LINKS = 1_000;
/**
 * Takes the place of a piece of Liquid while the html around it is read: a character that does not occur in
 * texts, and the number of the piece.
 */
const HELD = /\uE000(\d+)\uE001/g;

/**
 * The web addresses that sources link to, each once. A click counts for the first one that matches: those
 * without a personal part come first, then those with more letters, so that `https://example.com/{{
 * contact.email }}` gets no clicks of `https://example.com/of/{{ contact.email }}`.
 */
function linksIn(sources: readonly string[]): WrittenLink[] {
  const urls = new Set<string>();
  for (const html of sources) {
    if (urls.size >= MOST_LINKS) break;
    const pieces: string[] = [];
    const held = piecesOf(html)
      .map(({ text, isLiquid }) => (isLiquid ? `\uE000${pieces.push(text) - 1}\uE001` : text))
      .join('');
    for (const link of readHtml(held).links) {
      if (urls.size >= MOST_LINKS) break;
      const url = link.url.replaceAll(HELD, (_, index: string) => pieces[Number(index)] ?? '');
      if (/^https?:\/\//i.test(url)) urls.add(url);
    }
  }
  return [...urls]
    .map((url) => ({ url, ...matchOf(url) }))
    .toSorted((a, b) => Number(a.isPersonal) - Number(b.isPersonal) || b.letters - a.letters)
    .map(({ url, pattern }) => ({ url, pattern }));
}

/**
 * The pattern of the addresses that a link becomes as tracking writes them, and the number of characters that
 * all of them have.
 */
function matchOf(
  url: string,
): Pick<WrittenLink, 'pattern'> & { readonly letters: number; readonly isPersonal: boolean } {
  const pieces = piecesOf(url).map(({ text, isLiquid }) => (isLiquid ? null : withCodedSpaces(text)));
  return {
    pattern: pieces.map((text) => (text === null ? '%' : text.replaceAll(/[\\%_]/g, '\\$&'))).join(''),
    letters: pieces.reduce((sum, text) => sum + (text?.length ?? 0), 0),
    isPersonal: pieces.includes(null),
  };
}

const NAMED = /^contact\.properties(?:\.|\[['"])([A-Za-z]\w*)/;

/**
 * The members of a contact that a content uses, by the content and the language of the campaign: each
 * recipient asks.
 */
const pathsOf = new WeakMap<StoredContent, Map<string | null, readonly string[]>>();

function contactPathsIn(kept: Pick<KeptContent, 'content' | 'language'>): readonly string[] {
  const byLanguage = pathsOf.get(kept.content) ?? new Map<string | null, readonly string[]>();
  // By the language that answers: a bounded number of them.
  const chosen = kept.language ? chosenLanguage(kept.content, kept.language) : EACH;
  const known = byLanguage.get(chosen);
  if (known) return known;
  const names = new Set(languagesOf(kept).flatMap((content) => content.names));
  // The language is chosen again when the email leaves.
  if (!kept.language && Object.keys(kept.content.translations).length > 0) names.add(LANGUAGE);
  const paths = [...names].filter((name) => /^contact\b/.test(name));
  byLanguage.set(chosen, paths);
  pathsOf.set(kept.content, byLanguage);
  return paths;
}

/** The key of all languages together, which no tag has. */
const EACH = '';

const LANGUAGE = 'contact.properties.language';

/** The values of a contact that a content uses: its recipients' emails hold no others. */
export function usedOf(
  kept: Pick<KeptContent, 'content' | 'language'>,
  contact: ContactTexts & {
    readonly email: string;
    readonly properties: Readonly<Record<string, unknown>>;
  },
): Record<string, unknown> {
  const paths = contactPathsIn(kept);
  const properties = paths.filter((path) => path.startsWith('contact.properties'));
  const isWhole = paths.includes('contact') || properties.some((path) => !NAMED.test(path));
  const keys = properties.flatMap((path) => NAMED.exec(path)?.[1] ?? []);
  return {
    email: contact.email,
    ...fieldsOf(contact),
    properties: isWhole
      ? contact.properties
      : Object.fromEntries(
          keys.flatMap((key) =>
            Object.hasOwn(contact.properties, key) ? [[key, contact.properties[key]]] : [],
          ),
        ),
  };
}
