import type { Handler } from 'htmlparser2';
import { boundedParser, ParserLimit, type ParserLimits } from '../../html/bounded-parser.ts';

/**
 * Elements whose content is the quotation, by class; `quote` is that of Nextcloud Mail, with the attribution
 * in it.
 */
const QUOTING =
  /(?:^|\s)(?:gmail_quote|yahoo_quoted|protonmail_quote|tutanota_quote|quote|moz-email-headers-table)(?:\s|$)/i;
/** Elements that a mail program fills with the signature. */
const SIGNATURE_CLASS =
  /(?:^|\s)(?:gmail_signature|gmail_signature_prefix|moz-signature|protonmail_signature_block)(?:\s|$)/i;
const SIGNATURE_ID =
  /^(?:x_)*(?:signature|ms-outlook-mobile-signature|applemailsignature|ms-outlook-mobile-body-separator-line)$/i;
/** The line above a quotation of Thunderbird and Roundcube, whatever the language of its words. */
const ATTRIBUTION_CLASS = /(?:^|\s)moz-cite-prefix(?:\s|$)/i;
const ATTRIBUTION_ID = /^(?:v\d)?reply-intro$/i;
/** Spark names the part, and Outlook gives it an id. */
const SIGNATURE_NAME = 'messageSignatureSection';
/** Outlook's beginning of the quotation, whatever the language of the header in it. */
const HEADER_ID =
  /^(?:x_)*(?:divrplyfwdmsg|appendonsend|mail-editor-reference-message-container|outlookmessageheader)$/i;

const LONGEST_HTML = 1_048_576;
/** Beyond them the html is read as it is. A mail of 1 MiB has 100,000 tags, at a depth of thirty. */
const LIMITS: ParserLimits = { deepest: 1_000, steps: 20_000_000 };

type Part = 'plain' | 'quote' | 'indent' | 'signature' | 'attribution';

const MARK = '<p>-----Original Message-----</p>';

/**
 * Html of a reply, in which `blockquote` is used for quotations alone, and signatures are left out: so the
 * text that is made of it has `>` where the mail program knew the quotation.
 */
export function withMarkedQuotes(html: string): string {
  const source = html.slice(0, LONGEST_HTML);
  const pieces: string[] = [];
  const open: Part[] = [];
  let done = 0;
  /** Open elements whose content is left out. */
  let left = 0;
  const replace = (from: number, to: number, piece: string) => {
    if (from > done && left === 0) pieces.push(source.slice(done, from));
    if (left === 0) pieces.push(piece);
    done = Math.max(done, to);
  };
  const handlers: Partial<Handler> = {
    onopentag(name, attributes) {
      const part = partOf(name, attributes);
      const isLeft = part === 'signature' || part === 'attribution';
      if (isLeft && left === 0)
        replace(parser.startIndex, parser.endIndex + 1, part === 'attribution' ? MARK : '');
      if (isLeft) left++;
      else if (part === 'quote') replace(parser.startIndex, parser.endIndex + 1, '<blockquote>');
      else if (part === 'indent') replace(parser.startIndex, parser.endIndex + 1, '<div>');
      else if (HEADER_ID.test(attributes.id ?? '')) replace(parser.startIndex, parser.startIndex, MARK);
      open.push(part);
    },
    onclosetag(_name, isImplied) {
      const part = open.pop();
      const to = isImplied ? parser.startIndex : parser.endIndex + 1;
      if (part === 'quote') replace(parser.startIndex, to, '</blockquote>');
      else if (part === 'indent') replace(parser.startIndex, to, '</div>');
      else if ((part === 'signature' || part === 'attribution') && --left === 0) done = Math.max(done, to);
    },
  };
  const parser = boundedParser(handlers, {}, LIMITS);
  try {
    parser.end(source);
  } catch (reason) {
    if (reason instanceof ParserLimit) return source;
    throw reason;
  }
  return left > 0 ? pieces.join('') : pieces.join('') + source.slice(done);
}

function partOf(name: string, attributes: Readonly<Record<string, string>>): Part {
  const { class: classes = '', id = '', type = '' } = attributes;
  if (SIGNATURE_CLASS.test(classes) || SIGNATURE_ID.test(id) || attributes.name === SIGNATURE_NAME)
    return 'signature';
  if (ATTRIBUTION_CLASS.test(classes) || ATTRIBUTION_ID.test(id)) return 'attribution';
  if (name === 'blockquote')
    return type.toLowerCase() === 'cite' || 'cite' in attributes || QUOTING.test(classes)
      ? 'quote'
      : 'indent';
  // Gmail's div holds the attribution too, and answers between two quotations.
  return QUOTING.test(classes) && !/gmail_quote/i.test(classes) ? 'quote' : 'plain';
}
