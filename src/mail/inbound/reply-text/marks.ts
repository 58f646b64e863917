/**
 * The lines by which mail programs mark the beginning of a quotation. Each look is at a bounded number of
 * characters.
 */
import {
  BEGINS,
  DEVICES,
  GET_OUTLOOK,
  type HeaderField,
  LABELS,
  ORIGINAL,
  SENT_FROM,
  WROTE,
} from './phrases.ts';

/** Marks are shorter: names and addresses of 100 characters fit. */
const LONGEST_MARK = 400;

/** A line as marks are compared: lower case, one space for any white space, no invisible characters. */
export const plain = (line: string): string =>
  line
    .slice(0, LONGEST_MARK + 1)
    .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g, '')
    .replace(/[\s\u00a0\u202f]+/g, ' ')
    .trim()
    .toLowerCase()
    // The small letter of a Turkish İ is an i with a dot above.
    .replaceAll('i\u0307', 'i');

const escaped = (words: readonly string[]): string =>
  words
    .filter((word) => word !== '')
    .toSorted((a, b) => b.length - a.length)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('|');

/**
 * Chinese, Japanese, Korean and Thai put no space around their verbs, also not behind a name in Latin
 * letters.
 */
const WITHOUT_SPACES =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
const WITH_SPACES = ['Latin', 'Cyrillic', 'Greek', 'Arabic', 'Hebrew', 'Georgian']
  .map((script) => `\\p{Script=${script}}`)
  .join('');
/**
 * A verb is a whole word where its language divides words: the Arabic one is also within the words for office
 * and books.
 */
const WROTE_PATTERN =
  `(?:(?<![${WITH_SPACES}])(?:${escaped(WROTE.filter((verb) => !WITHOUT_SPACES.test(verb)))})(?![${WITH_SPACES}])` +
  `|${escaped(WROTE.filter((verb) => WITHOUT_SPACES.test(verb)))})`;
const VERB = new RegExp(WROTE_PATTERN, 'u');
const VERB_AT_END = new RegExp(`${WROTE_PATTERN}[^:：]{0,80}[:：]$`, 'u');
const BEGIN = new RegExp(`^(?:${escaped(BEGINS)})[ ,]`, 'u');
/** `Fri, 14 Nov`, `pt., 14 lis`, `2025. nov. 14`. */
const DATED_BEGIN = /^(?:\p{L}{1,14}[.,]{0,2} ?){0,2}\(?\d/u;
const DATE = /(?:19|20)\d\d|\d{1,2}[./-] ?\d{1,2}[./-] ?\d{2}/;
const TIME = /\d{1,2} ?[:.h時] ?\d{2}/;
const ADDRESS = /[^\s<>@]@[^\s<>@]/;
const ENDS_IN_COLON = /[:：]$/;

const WRITER_AT_END = new RegExp(`<[^\\s<>@]+@[^\\s<>@]+> ${WROTE_PATTERN} ?:$`, 'u');

/**
 * True for a line that begins as an attribution does, and ends with a writer's address and a verb behind a
 * number: "On Tue, 1 Dec at 3:14 AM , Anna <anna@example.com> wrote:" of Freshdesk has no year, "On December
 * 1, 2026, Anna <anna@example.com> wrote:" of HEY no time. One expression for all took 800 ms for 500 lines
 * of times without an address (measured).
 */
function endsInWriter(first: string, text: string): boolean {
  if (!BEGIN.test(first.replace(/^-{2,3} /, ''))) return false;
  const writer = text.search(WRITER_AT_END);
  return writer > 0 && /\d/.test(text.slice(0, writer));
}

/**
 * The confidence in an attribution. `sure`: nothing else is written so; `likely`: it is one where a quotation
 * follows.
 */
export interface Attribution {
  /** Number of lines. */
  readonly lines: number;
  readonly isSure: boolean;
}

const MOST_LINES = 4;

/**
 * "On …, Anna wrote:", wrapped over up to four lines, in any language that writes a date and an address.
 * `before` are the line that ends in a colon and those above it, from the last to the first.
 */
export function attributionIn(before: readonly string[]): Attribution | null {
  const [last = ''] = before;
  if (!ENDS_IN_COLON.test(last) || last.length > LONGEST_MARK) return null;
  let joined = '';
  for (const [index, line] of before.slice(0, MOST_LINES).entries()) {
    if (line === '' || line.length > LONGEST_MARK) break;
    joined = index === 0 ? line : `${line} ${joined}`;
    if (joined.length > LONGEST_MARK) break;
    if (index > 0 && !mayBegin(line)) continue;
    const [isDated, isWriters] = [DATE.test(joined), endsInWriter(line, joined)];
    if (!isWriters && !(isDated && (VERB.test(joined) || ADDRESS.test(joined)))) continue;
    const above = before[index + 1] ?? '';
    const isWrapped = !BEGIN.test(line) && above.length < 100 && BEGIN.test(above) && /\d/.test(above);
    const isTimed = TIME.test(joined) || (isDated && isWriters);
    const isSure = isTimed && ADDRESS.test(joined) && (VERB_AT_END.test(joined) || endsInAddress(joined));
    return { lines: index + (isWrapped ? 2 : 1), isSure };
  }
  return VERB.test(last) || endsInAddress(last) ? { lines: 1, isSure: false } : null;
}

const TEXT_BEHIND = new RegExp(`^.{10,300}?${WROTE_PATTERN} ?[:：](?= {2,}\\S)`, 'u');

/**
 * The attribution at the beginning of a line that goes on with the quotation, as Yahoo writes it; null for
 * none.
 */
export function attributionBefore(line: string): Attribution | null {
  const found = TEXT_BEHIND.exec(line.slice(0, LONGEST_MARK).toLowerCase())?.[0];
  const attribution = found === undefined ? null : attributionIn([plain(found)]);
  return attribution?.isSure ? attribution : null;
}

const mayBegin = (line: string): boolean => BEGIN.test(line) || DATED_BEGIN.test(line) || ADDRESS.test(line);

const endsInAddress = (line: string): boolean => /@[^\s<>@]{1,255} ?[>)\]]{0,2} ?[:：]$/.test(line);

const VERB_LAST = new RegExp(`${WROTE_PATTERN}$`, 'u');

/** An attribution without a colon; a quotation has to follow, since people write such sentences. */
export const isBareAttribution = (line: string): boolean => {
  if (line.length > LONGEST_MARK) return false;
  const words = line.replace(/^-{2,} ?|-{2,}$/g, '').trim();
  return (
    BEGIN.test(words) && VERB_LAST.test(words) && DATE.test(words) && TIME.test(words) && ADDRESS.test(words)
  );
};

/** The same between dashes, as Zoho writes it: "---- On …, Anna <anna@example.com> wrote ----". */
export const isDashedAttribution = (line: string): boolean =>
  line.startsWith('--') && line.endsWith('--') && isBareAttribution(line);

/**
 * ">>> Anna <anna@example.com> 01.12.2026 03:14 >>>", as GroupWise writes it above a quotation without marks.
 */
export const isArrowedAttribution = (line: string): boolean =>
  line.length <= LONGEST_MARK && /^>>> \S.*>>>\s*$/.test(line) && DATE.test(line) && TIME.test(line);

/** '"Anna" anna@example.com – 1 December 2026 03:14', as Nextcloud writes it; a quotation has to follow. */
export const isNamedAddress = (line: string): boolean =>
  line.length <= LONGEST_MARK &&
  /^"[^"]{0,200}" [^\s<>@]+@[^\s<>@]+ – /.test(line) &&
  DATE.test(line) &&
  TIME.test(line);

/** "2026/7/20 Anna <anna@example.com>", as Gmail writes it in some languages; a quotation has to follow. */
export const isDatedAddress = (line: string): boolean =>
  line.length <= LONGEST_MARK &&
  /^20\d\d[-/.年]/.test(line) &&
  DATE.test(line) &&
  ADDRESS.test(line) &&
  line.endsWith('>');

/**
 * The end of an attribution that was wrapped before the bracket of its address, as Gmail wraps it: ">:" or ">
 * wrote:".
 */
export const closesAddress = (line: string, above: string): boolean =>
  /^> ?(?:[\p{L}() ]{1,30})?[:：] ?$/u.test(line) &&
  above.lastIndexOf('<') > above.lastIndexOf('>') &&
  above.includes('@');

const BETWEEN_DASHES = /^[>*\s]*[-–—_=*]{2,}\s*([^-–—_=*][^–—_=]{2,60}?)\s*[-–—_=*]{2,}:?$/;
const FORWARDED = new Set([
  'begin forwarded message:',
  'anfang der weitergeleiteten nachricht:',
  'début du message transféré :',
  'début du message réexpédié :',
  'inicio del mensaje reenviado:',
  'inizio messaggio inoltrato:',
  'início da mensagem reencaminhada:',
  'begin doorgestuurd bericht:',
  'vidarebefordrat brev:',
]);

/**
 * The words of a separator have at most 60 characters; the pattern divides the dashes around them in all
 * ways.
 */
const LONGEST_SEPARATOR = 120;

const wordsBetweenDashes = (line: string): string | undefined =>
  line.length > LONGEST_SEPARATOR ? undefined : BETWEEN_DASHES.exec(line)?.[1];

/** "-----Original Message-----" in any language that is known. */
export const isSeparator = (line: string): boolean =>
  FORWARDED.has(line) || ORIGINAL.has(wordsBetweenDashes(line)?.trim() ?? '');

/** The rule of Outlook above a header; alone it may be anybody's. */
export const isRule = (line: string): boolean => /^_{10,}$/.test(line) || /^-{10,}$/.test(line);

/**
 * A rule of few characters, as Orange writes it and as html becomes it, or other words between dashes: the
 * header below has to be complete.
 */
export const isShortRule = (line: string): boolean =>
  /^(?:={3,}|-{3,9})$/.test(line) || wordsBetweenDashes(line) !== undefined;

const LABEL = /^[*_ ]*([^:：*_<>@]{1,24}?)[*_ ]*[:：]/;

const labelOf = (line: string): string => (LABEL.exec(line)?.[1] ?? '').trim();

/**
 * True for a line that may begin a header without a separator above. GMX and WEB.DE write the time before the
 * author.
 */
export const beginsHeader = (line: string): boolean => {
  const label = labelOf(line);
  return LABELS.some((fields) => BEGINNINGS.has(fields.get(label) ?? null));
};
const BEGINNINGS: ReadonlySet<HeaderField | null> = new Set(['from', 'sent']);

/**
 * A time of day, in the digits of any script: people who write "From: Paris" and "Sent: Monday" state none.
 */
const HAS_TIME = /\p{Nd}{1,2} ?[:.h時时시] ?\p{Nd}{2}/u;

/** The most lines of a header, with long lists of recipients. */
export const LONGEST_HEADER = 16;

/**
 * The line above a header. Below a separator, two fields are enough; below a rule of few characters, any
 * field may be the first.
 */
export type AboveHeader = 'separator' | 'rule' | 'text';

/**
 * The number of lines of the header "From: … Sent: … To: … Subject: …" that begins with the first of `lines`;
 * 0 for none. People write "From: Paris", "To: Rome" and "Subject: trains" as well, so it takes an address,
 * or a subject and a time, unless a separator is above.
 */
export function headerLength(lines: readonly string[], above: AboveHeader): number {
  const first = labelOf(lines[0] ?? '');
  const languages = LABELS.filter((fields) => fields.has(first));
  if (languages.length === 0) return 0;
  const labelled = lines.slice(0, LONGEST_HEADER);
  const labels = labelled.map(labelOf);
  return Math.max(
    ...languages.map((fields) =>
      lengthIn(
        labels.map((label) => fields.get(label) ?? null),
        labelled,
        above,
      ),
    ),
  );
}

/** The length by the labels of one language: "No: 12, Date: 3 May, Subject: Lamp" has those of two. */
function lengthIn(
  fieldOfLine: readonly (HeaderField | null)[],
  lines: readonly string[],
  above: AboveHeader,
): number {
  const [first, second] = fieldOfLine;
  const isTimeFirst = first === 'sent' && second === 'from' && HAS_TIME.test(lines[0] ?? '');
  if (first !== 'from' && !isTimeFirst && above === 'text') return 0;
  const fields = new Set<HeaderField>();
  let end = 0;
  let strange = 0;
  for (const [index, field] of fieldOfLine.entries()) {
    if (field === null) strange++;
    // A field is wrapped, or there is an empty line between two; three such lines are text.
    if (strange > 2) break;
    if (field === null) continue;
    strange = 0;
    fields.add(field);
    end = index + 1;
  }
  const labelled = lines.slice(0, end);
  const hasAddress = () => labelled.some((line, index) => fieldOfLine[index] && ADDRESS.test(line));
  const hasTime = () => labelled.some((line, index) => fieldOfLine[index] === 'sent' && HAS_TIME.test(line));
  const isComplete = fields.has('from') && (fields.has('sent') || fields.has('to')) && fields.size >= 3;
  const hasSubject = fields.has('subject');
  const isEnough = {
    separator: () => fields.size >= 2,
    rule: () => isComplete && hasSubject && hasAddress(),
    text: () => isComplete && (hasAddress() || (hasSubject && hasTime())),
  }[above];
  return isEnough() ? end : 0;
}

const LONGEST_SENT_FROM = 120;

/** "Sent from my iPhone" and "Get Outlook for iOS". */
export function isMobileSignature(line: string): boolean {
  if (line.length > LONGEST_SENT_FROM) return false;
  const isLink = line.includes('aka.ms/') && line.includes('outlook');
  if (isLink || GET_OUTLOOK.some((phrase) => line.startsWith(phrase) && /ios|android|mac|windows/.test(line)))
    return true;
  return (
    SENT_FROM.some((phrase) => line.startsWith(phrase) || line.replace(/[.!]$/, '').endsWith(phrase)) &&
    DEVICES.some((device) => line.includes(device))
  );
}
