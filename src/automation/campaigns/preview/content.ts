import { readHtml } from '../../../mail/html/read-html.ts';
import { piecesOf } from '../../../mail/liquid/pieces.ts';
import { estimateSize } from '../../../mail/message/message-size.ts';
import type { Database } from '../../../platform/db/database.ts';
import { Failure, invalid } from '../../../platform/errors/failure.ts';
import { type Address, isProblem, parseAddress } from '../../../platform/text/address.ts';
import { type ContactTexts, eachField, fieldsOf } from '../../../platform/text/contact-fields.ts';
import { ownOf } from '../../../platform/text/own-member.ts';
import type { StoredContent, TemplateContents } from '../../templates/commands.ts';
import { type CampaignSettings, compileOwn } from '../settings.ts';

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

/**
 * Reads the content of a campaign that has started; null for one that has not.
 * @throws UnavailableError
 */
export async function findKeptContent(
  database: Pick<Database, 'query'>,
  campaignId: string,
): Promise<KeptContent | null> {
  const [row] = await database.query<{ content: string }>(KEPT, [campaignId]);
  return row ? (JSON.parse(row.content) as KeptContent) : null;
}

/** A contact with an address and no other properties. */
export const BARE_CONTACT = {
  email: 'somebody@example.com',
  ...eachField(() => null),
  properties: {},
};

const MISSING = {
  from: 'Set the sender (from) first; the workspace has no default sender.',
  subject: 'Set the subject first.',
  body: 'Set the content first: html, markdown or templateId.',
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

/**
 * Makes a campaign ready to be started, or says everything that is missing: sender, subject, and content that renders for a contact
 * with nothing but an address. @throws UnavailableError
 */
export async function readyContent(
  contents: TemplateContents,
  { defaults, ...scope }: ReadyScope,
  settings: CampaignSettings,
  now: number,
): Promise<ReadyContent | Failure> {
  const found = settings.templateId === null ? null : await contents.find(scope, settings.templateId);
  if (found instanceof Failure) return found;
  const own = await compileOwn({ contents }, scope, settings, now);
  if (own instanceof Failure) return own;
  const base = found?.content ?? own;
  const from = settings.from ?? base?.from ?? defaults.from;
  const subject = settings.subject ?? base?.subject ?? null;
  const lacks = [
    ...(from === null ? [MISSING.from] : []),
    ...(subject === null || !/\S/.test(subject) ? [MISSING.subject] : []),
    ...(base === null ? [MISSING.body] : []),
  ];
  if (lacks.length > 0 || base === null || from === null || subject === null)
    return invalid(lacks.map((message) => ({ path: '/body', message })));
  const sender = parseAddress(from);
  if (isProblem(sender)) return invalid([{ path: '/body', message: MISSING.from }]);
  const previewText = settings.previewText ?? base.previewText;
  const content = await contents.withLines(scope, base, { subject, previewText }, now);
  if (content instanceof Failure) return content;
  const trial = await contents.render({
    ...{ workspaceId: scope.workspaceId, key: null, content, values: settings.variables, now },
    circumstances: {
      contact: BARE_CONTACT,
      campaign: { name: settings.name },
      preferencesUrl: 'https://example.com/',
    },
    ...{ at: '/body', purpose: 'preview' },
  });
  if (trial instanceof Failure) return trial;
  const required = [...content.variables, ...(content.layered?.inherited ?? [])].filter(
    ({ key, required: must }) => must && (ownOf(settings.variables, key) ?? null) === null,
  );
  if (required.length > 0)
    return invalid([
      {
        path: '/body',
        message: `Set the variables that the template requires: ${required.map(({ key }) => key).join(', ')}.`,
      },
    ]);
  if (!/\S/.test(trial.parts.subject ?? '')) return invalid([{ path: '/body', message: MISSING.subject }]);
  const replies = settings.replyTo.length > 0 ? settings.replyTo : base.replyTo;
  const { name, templateId, audienceId, trackOpens, trackClicks, ratePerHour, canary } = settings;
  return {
    sender,
    kept: {
      ...{ content, values: settings.variables, name, from, subject, templateId, audienceId },
      replyTo: replies.length > 0 ? replies : defaults.replyTo === null ? [] : [defaults.replyTo],
      ...{ trackOpens, trackClicks, ratePerHour, canary },
      links: linksIn(content.sources.html ?? ''),
    },
  };
}

/** The octets that one of its messages is expected to have. */
export const sizeOf = ({ content: { sources } }: KeptContent): number =>
  estimateSize({ text: sources.text, html: sources.html, attachments: [], headerOctets: 1_024 }) + 1_024;

const MOST_LINKS = 1_000;
/**
 * Takes the place of a piece of Liquid while the html around it is read: a character that does not occur in
 * texts, and the number of the piece.
 */
const HELD = /\uE000(\d+)\uE001/g;

/** The web addresses that a source links to, each once; those without a personal part first, so that they are matched first. */
function linksIn(html: string): WrittenLink[] {
  const pieces: string[] = [];
  const held = piecesOf(html)
    .map(({ text, isLiquid }) => (isLiquid ? `\uE000${pieces.push(text) - 1}\uE001` : text))
    .join('');
  const urls = new Set<string>();
  for (const link of readHtml(held).links) {
    const url = link.url.replaceAll(HELD, (_, index: string) => pieces[Number(index)] ?? '');
    if (/^https?:\/\//i.test(url)) urls.add(url);
    if (urls.size >= MOST_LINKS) break;
  }
  const patternOf = (url: string): string =>
    piecesOf(url)
      .map(({ text, isLiquid }) => (isLiquid ? '%' : text.replaceAll(/[\\%_]/g, '\\$&')))
      .join('');
  return [...urls]
    .map((url) => ({ url, pattern: patternOf(url), personal: personalPartsOf(url) }))
    .toSorted((a, b) => a.personal - b.personal)
    .map(({ url, pattern }) => ({ url, pattern }));
}

const personalPartsOf = (url: string): number => piecesOf(url).filter(({ isLiquid }) => isLiquid).length;

const NAMED = /^contact\.properties(?:\.|\[['"])([A-Za-z]\w*)/;

/** The values of a contact that a content uses: its recipients' emails hold no others. */
export function usedOf(
  { names }: StoredContent,
  contact: ContactTexts & {
    readonly email: string;
    readonly properties: Readonly<Record<string, unknown>>;
  },
): Record<string, unknown> {
  const paths = names.filter((name) => /^contact\b/.test(name));
  const properties = paths.filter((path) => path.startsWith('contact.properties'));
  const isWhole = paths.includes('contact') || properties.some((path) => !NAMED.test(path));
  const keys = properties.flatMap((path) => NAMED.exec(path)?.[1] ?? []);
  return {
    ...{ email: contact.email, ...fieldsOf(contact) },
    properties: isWhole
      ? contact.properties
      : Object.fromEntries(
          keys.flatMap((key) =>
            Object.hasOwn(contact.properties, key) ? [[key, contact.properties[key]]] : [],
          ),
        ),
  };
}
