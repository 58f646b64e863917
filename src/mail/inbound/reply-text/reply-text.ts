import { textFromHtml } from '../../content/text-part.ts';
import { withoutSignatureFrame } from './cleartext-signature.ts';
import { linkListAt, namesLink } from './link-list.ts';
import { withMarkedQuotes } from './marked-quotes.ts';
import {
  attributionBefore,
  attributionIn,
  beginsHeader,
  closesAddress,
  headerLength,
  isArrowedAttribution,
  isBareAttribution,
  isDashedAttribution,
  isDatedAddress,
  isMobileSignature,
  isNamedAddress,
  isRule,
  isSeparator,
  isShortRule,
  LONGEST_HEADER,
  plain,
} from './marks.ts';

/** The parts of a reply; the html is read where there is no text. */
export interface ReplyParts {
  readonly text: string | null;
  readonly html: string | null;
}

/**
 * The text of a reply without the quotation and the signature. In doubt a line stays: what a person wrote is
 * never dropped.
 */
export const replyText = ({ text, html }: ReplyParts): string =>
  text !== null && text.trim() !== ''
    ? withoutQuotation(text)
    : html === null
      ? ''
      : withoutQuotation(textFromHtml(withMarkedQuotes(html)));

/** The kind of a line. `mark` is a line that introduces a quotation. */
const KIND = { blank: 0, text: 1, quote: 2, mark: 3 } as const;

/**
 * Marks that are looked for. Each costs some microseconds; a reply has a few, hostile text has one a line.
 */
const MOST_LOOKS = 500;

const withoutQuotation = (text: string): string => new Reply(text).own();

const QUOTE = /^[ \t]{0,3}>/;
const SIGNATURE = /^-- ?\s*$/;
const EXACT_SIGNATURE = /^-- \r?$/;
/**
 * Programs that trim lines leave "--", which may also be a rule: a signature is short, and has no second one
 * beside it.
 */
const LONGEST_SIGNATURE = 12;

/** The lines of a reply. They are places in its text: a million strings would cost more than all looks. */
class Reply {
  readonly #text: string;
  /** The beginning of each line, and at last that of one more. */
  readonly #starts: readonly number[];
  readonly #kinds: Uint8Array;
  /** The first line of the part that is a quotation to the end. */
  #end: number;
  #looks = 0;
  #signatureLooks = 0;
  /** True once something proves that the message has a quotation. */
  #isProven = false;
  /** Lines as marks are compared, by number: looks at neighbouring lines ask for the same ones. */
  readonly #plain = new Map<number, string>();
  /** The line of the first mark, before which `>` is what the person wrote. */
  #firstMark: number | null = null;

  constructor(private readonly original: string) {
    const text = original.includes('\r') ? original.replace(/\r\n?/g, '\n') : original;
    this.#text = withoutSignatureFrame(text);
    this.#starts = startsOf(this.#text);
    this.#kinds = new Uint8Array(this.#starts.length - 1);
    this.#end = this.#kinds.length;
    for (let at = 0; at < this.#kinds.length; at++) this.#kinds[at] = this.#kindOf(at);
  }

  #line(at: number): string {
    return this.#text.slice(this.#starts[at], this.#endOf(at));
  }

  #endOf(at: number): number {
    return (this.#starts[at + 1] as number) - 1;
  }

  /** Most lines begin with a letter: a look at it is a fifth of the work of two patterns. */
  #kindOf(at: number): number {
    const start = this.#starts[at] as number;
    if (start === this.#endOf(at)) return KIND.blank;
    const first = this.#text.charCodeAt(start);
    if (first > SPACE && first < DELETE) return first === GREATER ? this.#kindOfMarked(at) : KIND.text;
    const line = this.#line(at);
    return QUOTE.test(line) ? KIND.quote : IS_BLANK.test(line) ? KIND.blank : KIND.text;
  }

  #kindOfMarked(at: number): number {
    const line = this.#line(at);
    const isEnd = at > 0 && line.length < 60 && closesAddress(line, this.#line(at - 1));
    return isEnd || isArrowedAttribution(line) ? KIND.text : KIND.quote;
  }

  own(): string {
    this.#findMarks();
    this.#dropLinkList();
    const fragments = this.#fragments();
    const hasText = fragments.some((fragment) => fragment !== '');
    // A message of quoted lines alone, or of a signature alone, may be all that the person wrote.
    if (!hasText && !this.#isProven) return this.original.trim();
    return fragments.filter((fragment) => fragment !== '').join('\n\n');
  }

  /**
   * Takes the links of a quotation with it. Where the person's own text names one of them, the list stays.
   */
  #dropLinkList(): void {
    const from = this.#isProven ? linkListAt((at) => this.#line(at), this.#end) : -1;
    if (from === -1) return;
    const end = this.#end;
    this.#end = from;
    if (this.#fragments().some(namesLink)) this.#end = end;
  }

  #findMarks(): void {
    for (let at = 0; at < this.#end && this.#looks < MOST_LOOKS; at++) {
      if (this.#kinds[at] !== KIND.text) continue;
      const line = this.#line(at);
      const colon = line.length <= 600 && /[:：]/.test(line);
      const isDashed = /^\s*(?:[-–—_=*]{2}|>>>|20\d\d[-/.年])/.test(line);
      if (!colon && !isDashed && !/:$/.test(line.trimEnd())) continue;
      this.#looks++;
      at = this.#markAt(at);
    }
  }

  /** Looks for a mark at a line, and returns the last line that it takes. */
  #markAt(at: number): number {
    const line = this.#plainLine(at);
    const isBelow = isSeparator(line);
    const above = isBelow || isRule(line) ? 'separator' : isShortRule(line) ? 'rule' : 'text';
    const from = above === 'text' ? at : this.#next(at + 1);
    const mayBeHeader = from < this.#end && (from > at || beginsHeader(line));
    const header = mayBeHeader ? headerLength(this.#around(from), above) : 0;
    if (header > 0) return this.#mark(at, from + header, true);
    if (isBelow || isDashedAttribution(line) || isArrowedAttribution(line))
      return this.#mark(at, at + 1, true);
    if (isBareAttribution(line) || isDatedAddress(line) || isNamedAddress(line))
      return this.#mark(at, at + 1, false);
    const attribution = attributionIn(this.#above(at)) ?? attributionBefore(this.#line(at));
    return attribution === null ? at : this.#mark(at + 1 - attribution.lines, at + 1, attribution.isSure);
  }

  /** Takes the lines from `from` to `to` as a mark, where what is around them allows it. */
  #mark(from: number, to: number, isSure: boolean): number {
    const below = this.#next(to);
    const isQuoted = this.#kinds[below] === KIND.quote;
    // Answers below a quotation without `>` cannot be told from it: without any text above, nothing is
    // dropped.
    const isCut = isSure && !isQuoted && (this.#hasTextBefore(from) || below === this.#kinds.length);
    if (!isQuoted && !isCut) return to - 1;
    this.#firstMark ??= from;
    this.#isProven = true;
    this.#kinds.fill(KIND.mark, from, to);
    if (isCut) this.#end = from;
    return to - 1;
  }

  /** The line at or after `at` that is not blank. */
  #next(at: number): number {
    let next = at;
    while (next < this.#kinds.length && this.#kinds[next] === KIND.blank) next++;
    return next;
  }

  #hasTextBefore(end: number): boolean {
    for (let at = 0; at < end; at++)
      if (this.#kinds[at] === KIND.text || this.#kinds[at] === KIND.quote) return true;
    return false;
  }

  #around(from: number): string[] {
    const to = Math.min(from + LONGEST_HEADER, this.#kinds.length);
    return Array.from({ length: to - from }, (_, index) => this.#plainLine(from + index));
  }

  #plainLine(at: number): string {
    const line = this.#plain.get(at) ?? plain(this.#line(at));
    this.#plain.set(at, line);
    return line;
  }

  /** The line and those above it that belong to the same paragraph. */
  #above(at: number): string[] {
    const lines: string[] = [];
    for (let each = at; each >= 0 && each > at - 6 && this.#kinds[each] === KIND.text; each--)
      lines.push(this.#plainLine(each));
    return lines;
  }

  /** The parts that the person wrote, between quoted ones, without signatures. */
  #fragments(): string[] {
    const fragments: string[] = [];
    const keepsQuotes = this.#firstMark ?? 0;
    let from = -1;
    for (let at = 0; at < this.#end; at++) {
      const kind = this.#kinds[at];
      const isOwn = kind === KIND.text || kind === KIND.blank || (kind === KIND.quote && at < keepsQuotes);
      if (isOwn && from === -1) from = at;
      if (isOwn || from === -1) continue;
      fragments.push(this.#withoutSignature(from, at));
      from = -1;
    }
    if (from !== -1) fragments.push(this.#withoutSignature(from, this.#end));
    return fragments;
  }

  /** The text of a fragment, which ends before its signature. */
  #withoutSignature(from: number, to: number): string {
    let end = this.#signatureIn(from, to);
    // "Sent from my iPhone" and "Get Outlook for iOS" may both be there.
    for (let left = this.#signatureLooks++ < MOST_LOOKS ? 3 : 0; left > 0 && end > from; ) {
      const line = this.#line(end - 1);
      if (this.#kinds[end - 1] !== KIND.blank) {
        if (line.length > 200 || !isMobileSignature(plain(line))) break;
        this.#isProven = true;
        left--;
      }
      end--;
    }
    return this.#textOf(from, end);
  }

  /** The line of the signature's delimiter; the end of the fragment where it has none. */
  #signatureIn(from: number, to: number): number {
    let trimmed = -1;
    let rules = 0;
    for (let at = from; at < to; at++) {
      if (this.#text.charCodeAt(this.#starts[at] as number) !== HYPHEN) continue;
      const line = this.#line(at);
      if (!SIGNATURE.test(line)) continue;
      if (EXACT_SIGNATURE.test(line)) return at;
      trimmed = at;
      rules++;
    }
    return rules === 1 && this.#linesBelow(trimmed, to) <= LONGEST_SIGNATURE ? trimmed : to;
  }

  #linesBelow(at: number, to: number): number {
    let below = 0;
    for (let each = at + 1; each < Math.min(to, at + 60); each++)
      if (this.#kinds[each] !== KIND.blank) below++;
    return below;
  }

  /** The text of a fragment, without blank lines around it. */
  #textOf(from: number, to: number): string {
    let [begin, end] = [from, to];
    while (begin < end && this.#kinds[begin] === KIND.blank) begin++;
    while (end > begin && this.#kinds[end - 1] === KIND.blank) end--;
    if (begin === end) return '';
    let own = '';
    let copied = this.#starts[begin] as number;
    for (let at = begin; at < end; at++) {
      const kept = this.#endWithoutSpace(at);
      if (kept === this.#endOf(at)) continue;
      own += this.#text.slice(copied, kept);
      copied = this.#endOf(at);
    }
    return own + this.#text.slice(copied, this.#endOf(end - 1));
  }

  /** Most lines end with a letter or a sign: a look at it costs less than a cut that changes nothing. */
  #endWithoutSpace(at: number): number {
    const start = this.#starts[at] as number;
    if (this.#kinds[at] === KIND.blank) return start;
    const last = this.#text.charCodeAt(this.#endOf(at) - 1);
    return last > SPACE && last < DELETE ? this.#endOf(at) : start + this.#line(at).trimEnd().length;
  }
}

function startsOf(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  starts.push(text.length + 1);
  return starts;
}

const SPACE = 0x20;
const DELETE = 0x7f;
const GREATER = 0x3e;
const HYPHEN = 0x2d;

/** Extensions of Gmail that count openings leave U+1427 on a line. */
const IS_BLANK = /^[\s\u00a0\u1427\u200b-\u200d\ufeff]*$/;
