import { Parser } from 'htmlparser2';
import { DEEPEST_HTML } from '../html/open-elements.ts';
import { readHtml } from '../html/read-html.ts';
import { showsWayOut } from '../html/way-out.ts';
import { textPartOf } from './text-part.ts';

/** Something about a message that its author may want to change before it is sent. */
export interface ContentWarning {
  readonly code:
    | 'image_only'
    | 'odd_links'
    | 'no_unsubscribe_link'
    | 'encoded_placeholder'
    | 'foreign_placeholder';
  readonly message: string;
}

/** The two parts of a message. */
interface Parts {
  readonly html: string | null;
  readonly text: string | null;
}

/**
 * The bytes of words up to which SpamAssassin 4 counts a picture against a message, each with the end of the
 * rule's name.
 */
const IMAGE_ONLY = [400, 800, 1_200, 1_600, 2_000, 2_400, 2_800, 3_200] as const;

/** The counted parts of a message, as far as they are known before it is sent. */
interface TrackingFlags {
  readonly opens: boolean;
  readonly clicks: boolean;
}

/** The properties that filters of receivers count against any message. */
export function filterWarnings(parts: Parts, counted: TrackingFlags): readonly ContentWarning[] {
  const { html } = parts;
  if (html === null) return [];
  const warnings: ContentWarning[] = [];
  const content = contentOf(html);
  const limit = IMAGE_ONLY.find((most) => content.words <= most);
  const hasPicture = content.pictures.size > 0;
  if ((hasPicture || counted.opens) && limit !== undefined) {
    const rule = `HTML_IMAGE_ONLY_${String(limit / 100).padStart(2, '0')}`;
    const picture = hasPicture ? 'a picture' : 'the picture that counts opens';
    warnings.push({
      code: 'image_only',
      message: `Beside ${picture} there are only ${content.words} bytes of words, which SpamAssassin counts against a message (${rule}, up to 2.8 points). Write more words, or send it without ${picture}.`,
    });
  }
  if (hasOddLinks(parts, content, counted))
    warnings.push({
      code: 'odd_links',
      message:
        'The addresses in the html and the text, those of pictures among them, come to an odd number, which rspamd counts against a message (URI_COUNT_ODD, 1 point). Give both parts the same links.',
    });
  return warnings;
}

const IN_TEXT = /\b(?:https?:\/\/[^\s<>"'`)]+|\{\{unsubscribeUrl\}\})/gi;
const IS_LINK = /^(?:https?:\/\/|\{\{unsubscribeUrl)/i;

/**
 * Counts addresses as rspamd 3.4 was seen to do: one that the html alone links to is counted twice, pictures
 * once, and those of the text or written out in the html as often as they are there.
 */
function hasOddLinks(
  { html, text }: Parts,
  { pictures, shown }: HtmlContent,
  { opens, clicks }: TrackingFlags,
): boolean {
  const inHtml = new Map<string, number>();
  // Each counted link has a unique address.
  for (const { url } of readHtml(html ?? '').links)
    if (IS_LINK.test(url) && !(clicks && /^http/i.test(url))) inHtml.set(url, (inHtml.get(url) ?? 0) + 1);
  const inText = new Map<string, number>();
  for (const [url] of (textPartOf({ html, text }) ?? '').matchAll(IN_TEXT))
    inText.set(url, (inText.get(url) ?? 0) + 1);
  let count = pictures.size + (opens ? 1 : 0) + (shown.match(IN_TEXT)?.length ?? 0);
  for (const [url, times] of inText) count += times + (inHtml.get(url) ?? 0);
  return count % 2 === 1;
}

interface HtmlContent {
  readonly pictures: ReadonlySet<string>;
  readonly shown: string;
  /** In bytes, as SpamAssassin counts them: hidden ones too. */
  readonly words: number;
}

function contentOf(html: string): HtmlContent {
  const pictures = new Set<string>();
  const pieces: string[] = [];
  let depth = 0;
  let unread = 0;
  const isUnread = (name: string): boolean => name === 'style' || name === 'script' || name === 'title';
  const parser = new Parser({
    onopentag(name, { src }) {
      depth++;
      if (name === 'img') pictures.add(src ?? '');
      if (isUnread(name)) unread++;
      if (depth > DEEPEST_HTML) parser.pause();
    },
    onclosetag(name) {
      depth--;
      if (isUnread(name)) unread--;
    },
    ontext(text) {
      if (unread === 0) pieces.push(text);
    },
  });
  parser.write(html);
  if (depth <= DEEPEST_HTML) parser.end();
  const shown = pieces.join('').replace(/\s+/g, ' ');
  return { pictures, shown, words: Buffer.byteLength(shown.trim()) };
}

const OPEN = '(?:%7B|&#0{0,4}123;|&#x0{0,4}7b;|&lbrace;|&lcub;)';
const CLOSE = '(?:%7D|&#0{0,4}125;|&#x0{0,4}7d;|&rbrace;|&rcub;)';
/** The sign of a tag, and no escape of an octet. */
const PERCENT = '(?:%25|%(?![0-9a-f]{2})|&#0{0,4}37;|&percnt;)';
const WITHIN = '[^{}<>]{0,80}?';

/**
 * Two braces as editors and inliners of CSS encode them in addresses and in text, around a name; or those of
 * a tag, around its words.
 */
const ENCODED = new RegExp(
  `${OPEN}{2}${WITHIN}${CLOSE}{2}|(?<tag>${OPEN}${PERCENT}-?(?:\\s|%20|\\+)*[a-z]{2}${WITHIN}(?:%25|%|&#0{0,4}37;|&percnt;)${CLOSE})`,
  'gi',
);

/**
 * The reason why recipients of a list see no way to leave it; null where they see one. `parts` are rendered,
 * with the placeholder of the link in them.
 */
export const wayOutWarning = (parts: Parts): ContentWarning | null =>
  showsWayOut(parts)
    ? null
    : {
        code: 'no_unsubscribe_link',
        message:
          'With these values not every reader sees a link to {{ unsubscribeUrl }}: it is missing, hidden, or within a condition. A campaign adds one at the end, a flow does not.',
      };

/**
 * Placeholders of other services, in the forms that nothing else has: `*|FNAME|*` of Mailchimp,
 * `%recipient.name%` of Mailgun, `%FIRSTNAME%` of ActiveCampaign, `%%FirstName%%` of Salesforce, `[% name %]`
 * of Sendwithus, `[[FIRSTNAME OR "you"]]` of Constant Contact, and `<%= name %>`. Behind the first octet of a
 * letter, `%ADas%` is the rest of "días" in an address: both are beyond ASCII.
 */
const FOREIGN =
  /\*\|[A-Za-z][^|<>\n]{0,80}\|\*|%%[A-Za-z][\w. ]{1,60}%%|(?<!%[89A-Fa-f][\dA-Fa-f](?=%[89A-Fa-f][\dA-Fa-f]))%[A-Za-z][A-Za-z_.]{3,60}%|\[%[^%<>[\]\n]{1,80}%\]|\[\[[A-Za-z][^<>[\]\n]{2,80}\]\]|<%=?[^<>%\n]{1,80}%>/g;

/** A placeholder in which nothing is filled in, at an offset of a text. */
interface DeadPlaceholder extends ContentWarning {
  readonly code: 'encoded_placeholder' | 'foreign_placeholder';
  readonly at: number;
}

/**
 * The placeholders in which nothing is filled in: an editor has encoded their braces, or they are of another
 * service.
 */
export function* deadPlaceholders(html: string): Generator<DeadPlaceholder> {
  for (const { 0: encoded, index, groups } of html.matchAll(ENCODED)) {
    const marks = groups?.tag === undefined ? '{{ and }}' : '{% and %}';
    yield {
      code: 'encoded_placeholder',
      message: `An editor has encoded the braces of ${encoded.slice(0, 80)}, so that nothing is filled in there. Write ${marks} in the source.`,
      at: index,
    };
  }
  for (const { 0: foreign, index } of html.matchAll(FOREIGN))
    yield {
      code: 'foreign_placeholder',
      message: `${foreign} looks like a placeholder of another service: recipients see it as it is. Write {{ contact.firstName }} and the like.`,
      at: index,
    };
}
