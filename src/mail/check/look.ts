import { deadPlaceholders, filterWarnings, wayOutWarning } from '../content/filter-warnings.ts';
import { readHtml } from '../html/read-html.ts';
import { ownPath, withoutUser, writtenAddresses } from './addresses.ts';
import { type CheckCode, type FoundProblem, MOST_ASKED } from './codes.ts';
import { darkProblems } from './dark-mode.ts';
import { droppedBy, type WrittenProblem } from './dropped.ts';
import { held, isHeld, LONGEST_CHECKED, readSource, type SourceReading, shortened } from './source-tags.ts';
import { unclosedInBoth } from './unclosed.ts';

/** A message to look at. */
export interface LookedAt {
  /** Rendered, as it leaves. */
  readonly html: string | null;
  readonly text: string | null;
  /** The source of its author, whose lines problems name; null for a finished message. */
  readonly source: {
    readonly text: string;
    /** The html is made of Markdown and MJML, so that what the maker writes is not its author's. */
    readonly format: 'html' | 'emailmd' | 'mjml';
  } | null;
  /** `list`: every reader needs a way out. `finished`: nothing is filled in any more. */
  readonly as: 'single' | 'list' | 'finished';
  /** The address by which a finished message is left; null for none. */
  readonly exit: string | null;
  /** The beginning of this service's own addresses, which are not followed. */
  readonly ownUrl: string;
}

/** An address with the place at which it is written. */
export interface FoundAddress extends Pick<FoundProblem, 'at'> {
  readonly url: string;
}

export interface Findings {
  readonly problems: readonly FoundProblem[];
  /** Web addresses that links lead to, and those of style sheets, fonts and films, each once. */
  readonly links: readonly FoundAddress[];
  readonly images: readonly FoundAddress[];
  /** Links and images that are not followed. */
  readonly leftOut: number;
}

/** The most problems of one code: an author mends the first ones and looks again. */
const MOST_OF_A_KIND = 20;
const IS_WEB = /^https?:\/\/[^/?#\s]/i;
/** A browser takes the first word of the path for the host. */
const WITHOUT_HOST = /^https?:(?!\/\/[^/?#\s])/i;

/**
 * Everything that can be said of a message without asking others. Memory and time grow with its length alone.
 */
export function lookAt(message: LookedAt): Findings {
  const { html, text, source, as, exit } = message;
  const html1 = html?.slice(0, LONGEST_CHECKED) ?? null;
  const parts = { html: html1, text: text?.slice(0, LONGEST_CHECKED) ?? null };
  const problems: FoundProblem[] = [];
  const say = (code: CheckCode, words: string) => problems.push({ code, message: words, at: null });
  const shown = html1 === null ? null : readSource(html1);
  // Lines are those of the author's html; where the html is made, words are looked for in what it is made of.
  const made = source !== null && source.format !== 'html' ? source.text : null;
  const written = source && made === null ? readSource(held(source.text)) : shown;
  if (written) {
    const dark = darkProblems(written);
    const dropped = droppedBy(written, made === null);
    problems.push(
      ...(made === null ? [...markupProblems(written), ...dark] : dark.filter(isOfTheWhole)),
      ...relativeAddresses(written).flatMap((each) => (made === null ? each : writtenOut(each, made))),
      ...dropped.flatMap((problem) => (made === null ? bare(problem) : writtenIn(problem, made))),
    );
    // In markdown, lines of code show tags that are none.
    const authored =
      source?.format === 'mjml' ? readSource(held(source.text)) : made === null ? written : null;
    if (authored && shown) problems.push(...unclosedIn(authored, shown));
    if (!written.isWhole || (html?.length ?? 0) > LONGEST_CHECKED)
      say(
        'not_checked',
        'The html is too long to be checked to its end. Make it shorter: Gmail shows 100 kB.',
      );
  }
  if (as === 'list' || exit !== null) problems.push(...wayOutProblems(message, parts));
  if (as !== 'finished')
    problems.push(...deadPlaceholders((source?.text ?? html1 ?? '').slice(0, LONGEST_CHECKED)));
  for (const { code, message: words } of filterWarnings(parts, { opens: false, clicks: false }))
    say(code, words);
  if (as === 'finished') problems.push(...leftPlaceholders(parts));
  return { problems: bounded(problems), ...addressesOf(message, shown, written, made) };
}

function bounded(problems: readonly FoundProblem[]): FoundProblem[] {
  const counts = new Map<CheckCode, number>();
  return problems.filter(({ code }) => {
    const count = (counts.get(code) ?? 0) + 1;
    counts.set(code, count);
    return count <= MOST_OF_A_KIND;
  });
}

/** The first place of a word in what an author wrote; null where it is not there. */
function firstOf(source: string, word: string): number | null {
  const at = source.indexOf(word);
  return at === -1 || word === '' ? null : at;
}

/** The most characters of an address in a message. */
const LONGEST_TOLD = 120;

/** The ways to write an address in MJML and markdown: what is before it, and what is behind. */
const WRITTEN = [
  ['"', '"'],
  ["'", "'"],
  ['](', ')'],
  ['](', ' '],
  ['](<', '>'],
  [']: ', ''],
] as const;

interface RelativeAddress extends FoundProblem {
  readonly address: string;
}

/** The addresses that lead nowhere. Their author has to see all of one but the password. */
function relativeAddresses({ tags }: SourceReading): RelativeAddress[] {
  const found: RelativeAddress[] = [];
  for (const { name, isEnd, attributes, at } of tags) {
    if (isEnd) continue;
    const address = attributes.get(name === 'img' ? 'src' : name === 'a' ? 'href' : '')?.trim();
    if (address === undefined || !isRelative(address)) continue;
    const told = withoutUser(shortened(address)).slice(0, LONGEST_TOLD) || 'An empty address';
    const message = `${told} leads nowhere from a message: begin it with https:// and the host.`;
    found.push({ code: 'relative_address', message, at, address });
  }
  return found;
}

/** An address that leads nowhere, where its author wrote it: a value of Liquid is written nowhere. */
function writtenOut({ address, ...problem }: RelativeAddress, source: string): FoundProblem[] {
  if (address === '') return [];
  const places = WRITTEN.map(([before, behind]) => firstOf(source, before + address + behind));
  const at = places.find((each) => each !== null) ?? null;
  return at === null ? [] : [{ ...problem, at }];
}

/** The only problem of dark mode that html has which was made. */
const isOfTheWhole = ({ code }: FoundProblem): boolean => code === 'no_dark_mode';

const bare = ({ written: _, ...problem }: WrittenProblem): FoundProblem => problem;

/**
 * A thing that programs leave out, where its author wrote it; none where the maker of the html has added it.
 */
function writtenIn(problem: WrittenProblem, source: string): FoundProblem[] {
  const at = problem.written.exec(source)?.index;
  return at === undefined ? [] : [{ ...bare(problem), at }];
}

function markupProblems({ tags }: SourceReading): FoundProblem[] {
  const problems: FoundProblem[] = [];
  for (const { name, isEnd, attributes, at } of tags) {
    if (isEnd) continue;
    // A piece of Liquid among its attributes may be its alt text.
    if (name === 'img' && !attributes.has('alt') && ![...attributes.keys()].some(isHeld))
      problems.push({
        code: 'image_without_alt',
        message:
          'This image has no alt text, which shows where images are blocked and is read aloud. Write alt="…", or alt="" where it says nothing.',
        at,
      });
    if ((['href', 'src'] as const).some((each) => /^\s*http:/i.test(attributes.get(each) ?? '')))
      problems.push({
        code: 'insecure_link',
        message: 'This address begins with http: write https.',
        at,
      });
  }
  return problems;
}

const unclosedIn = (written: SourceReading, shown: SourceReading): FoundProblem[] =>
  unclosedInBoth(written, shown.tags).map(({ name, at }) => ({
    code: 'unclosed_tag',
    message: `This ${name} is closed nowhere: write </${name}> where it ends.`,
    at,
  }));

/**
 * True of an address that no mail program finds. One that begins with Liquid or an entity may have a host by
 * then.
 */
const isRelative = (address: string): boolean =>
  WITHOUT_HOST.test(address) || (!/^(?:[a-z][\w+.-]*:|[#&{])/i.test(address) && !isHeld(address.slice(0, 1)));

interface Parts {
  readonly html: string | null;
  readonly text: string | null;
}

function wayOutProblems({ as, exit }: LookedAt, parts: Parts): FoundProblem[] {
  if (as === 'list') {
    const warning = wayOutWarning(parts);
    return warning ? [{ ...warning, at: null }] : [];
  }
  if (exit === null) return [];
  const { html, text } = parts;
  const shows = html === null ? (text ?? '').includes(exit) : readHtml(html, exit).shows;
  return shows
    ? []
    : [
        {
          code: 'no_way_out',
          message:
            'The message can be left by a button of mail programs alone: its reader sees no link to unsubscribe. Write {{ unsubscribeUrl }} into a link that nothing hides.',
          at: null,
        },
      ];
}

const PLACEHOLDER = /\{\{[^{}\n]{0,80}\}\}/;

function leftPlaceholders({ html, text }: Parts): FoundProblem[] {
  const found = PLACEHOLDER.exec(html ?? '') ?? PLACEHOLDER.exec(text ?? '');
  if (!found) return [];
  return [
    {
      code: 'unfilled_placeholder',
      message: `The message says ${found[0]}: nothing was filled in there. Give the variable a value or a default.`,
      at: null,
    },
  ];
}

/** The addresses that are asked for, and where their author wrote them. */
function addressesOf(
  { html, ownUrl }: LookedAt,
  shown: SourceReading | null,
  written: SourceReading | null,
  /** The source that the html is made of; null where its author wrote the html. */
  made: string | null,
): Omit<Findings, 'problems'> {
  const places = new Map<string, number>();
  const note = (url: string, at: number): void => {
    if (!places.has(url)) places.set(url, at);
  };
  for (const { attributes, at } of written?.tags ?? [])
    for (const each of ['href', 'src']) {
      const url = attributes.get(each)?.trim().replaceAll('&amp;', '&');
      if (url !== undefined) note(url, at);
    }
  if (written) for (const { url, at } of writtenAddresses(written)) note(url, at);
  const placeOf = (url: string): number | null =>
    made === null ? (places.get(url) ?? null) : firstOf(made, url);
  let leftOut = 0;
  const seen = new Set<string>();
  const asked = (urls: Iterable<string>, mayBeOwn: boolean): FoundAddress[] => {
    const found = new Map<string, FoundAddress>();
    for (const url of urls) {
      if (!IS_WEB.test(url) || seen.has(url)) continue;
      seen.add(url);
      const isLeftOut =
        found.size >= MOST_ASKED || url.includes('{{') || (!mayBeOwn && ownPath(url, ownUrl) !== null);
      if (isLeftOut) leftOut++;
      else found.set(url, { url, at: placeOf(url) });
    }
    return [...found.values()];
  };
  const links = html === null ? [] : readHtml(html.slice(0, LONGEST_CHECKED)).links.map(({ url }) => url);
  const addresses = shown ? writtenAddresses(shown) : [];
  const urls = (isImage: boolean): string[] =>
    addresses.flatMap((each) => (each.isImage === isImage ? [each.url] : []));
  // More is said of an image: an address that is both is asked for as one.
  const images = asked(urls(true), true);
  return { links: asked([...links, ...urls(false)], false), images, leftOut };
}
