import { placeInWords } from '../../platform/text/places.ts';
import { inLanguage } from '../html/html-language.ts';
import { withPreviewLine } from '../html/preview-line.ts';
import {
  htmlLiquid,
  type LiquidEngine,
  type ParsedSource,
  type Scope,
  type Slot,
  textLiquid,
} from './engine.ts';
import { refuseDangerousPlaces, refuseSplitBlocks, runsScripts, scanHtml } from './html-scan.ts';
import { Budget, LIQUID_LIMITS, LiquidProblem, TooSlow } from './limits.ts';
import { Placeholder } from './values.ts';
import { asLine } from './written-values.ts';

export type PartName = 'subject' | 'previewText' | 'html' | 'text';

/** Rendered parts. Null where there is none. */
export type RenderedParts = { readonly [Part in PartName]: string | null };

/** The sources of one version of a template, ready to be rendered. */
export interface Sources extends RenderedParts {
  /**
   * True where the preview text is put into the html that was rendered; false and absent where the html has
   * it already.
   */
  readonly placesPreview?: boolean;
  /** The language of the content; null and absent where it names none. */
  readonly language?: string | null;
  /** True where the rendered html still has to say its language. */
  readonly placesLanguage?: boolean;
}

const PARTS: readonly PartName[] = ['subject', 'previewText', 'html', 'text'];
const ENGINES: Readonly<Record<PartName, LiquidEngine>> = {
  subject: textLiquid,
  previewText: textLiquid,
  html: htmlLiquid,
  text: textLiquid,
};

/** Parsed sources. */
export interface ParsedParts {
  /** A text without Liquid stays as it is. */
  readonly sources: ReadonlyMap<PartName, ParsedSource | string>;
  /** True when a value can name the scheme of a link. */
  readonly writesLinks: boolean;
  /** True when the html is given its preview text. */
  readonly placesPreview: boolean;
  readonly language: string | null;
  /** True when the html says its language once it is rendered. */
  readonly placesLanguage: boolean;
}

/** Parses the sources of a version that was checked when it was saved. @throws LiquidProblem */
export function parseParts(sources: Sources): ParsedParts {
  const parsed = new Map<PartName, ParsedSource | string>();
  for (const part of PARTS) {
    const source = sources[part];
    if (source !== null) parsed.set(part, /\{[{%]/.test(source) ? ENGINES[part].parse(source) : source);
  }
  return {
    sources: parsed,
    writesLinks: /=\s*(?:["']\s*)?\{[{%]/.test(sources.html ?? ''),
    placesPreview: sources.placesPreview ?? false,
    language: sources.language ?? null,
    placesLanguage: sources.placesLanguage ?? false,
  };
}

/** The placeholders that are filled in for each recipient when an email leaves. */
const LATER = { unsubscribeUrl: new Placeholder('{{unsubscribeUrl}}') };
/** They stay empty where one text serves all recipients. */
const NEVER = { unsubscribeUrl: '' };

/** Filters can cut a character in two, and decode what no database takes. */
const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');

const RUNS_SCRIPTS = 'Must not make a link that runs a script: only web, mail and telephone addresses.';

/** Renders the parts. @throws LiquidProblem, TooSlow */
export function renderParts(
  { sources, writesLinks, placesPreview, placesLanguage, language }: ParsedParts,
  { names, now }: Scope,
): RenderedParts {
  const budget = new Budget();
  const render = (part: PartName): string | null => {
    const source = sources.get(part);
    if (source === undefined) return null;
    const isLine = part === 'subject' || part === 'previewText';
    if (typeof source === 'string') return source;
    const text = within(part, () =>
      ENGINES[part].render(source, {
        now,
        language,
        budget,
        names: { ...names, ...(isLine ? NEVER : LATER) },
      }),
    );
    return isLine ? asLine(text) : storable(text);
  };
  const made = render('html');
  const html = made !== null && placesLanguage && language !== null ? inLanguage(made, language) : made;
  if (html !== null && writesLinks && runsScripts(html)) throw new LiquidProblem(RUNS_SCRIPTS, true, 'html');
  const previewText = render('previewText');
  // The html of this very recipient: in the source, the body may begin in several branches, or in none that
  // is rendered.
  const isPlaced = placesPreview && html !== null && previewText !== null;
  return {
    subject: render('subject'),
    previewText,
    html: isPlaced ? withPreviewLine(html, previewText) : html,
    text: render('text'),
  };
}

/** Says of a problem in which part it was met. */
function within<Result>(part: PartName, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof LiquidProblem) || error instanceof TooSlow) throw error;
    throw new LiquidProblem(error.message, error.dependsOnValues, part);
  }
}

/** A source as its author wrote it. `markdown` and `mjml` are read like a text, and become an html later. */
export type AuthoredPart = PartName | 'markdown' | 'mjml';

/** A source that is read for its part. */
export interface AuthoredSource {
  readonly part: AuthoredPart;
  readonly source: string;
}

/** A mistake in one source, as a sentence. */
export interface PartProblem {
  readonly part: AuthoredPart;
  readonly message: string;
}

/** The result of reading sources: their mistakes, or the names that they use. */
export interface Findings {
  readonly problems: readonly PartProblem[];
  /** Paths such as `order.total`, sorted. */
  readonly names: readonly string[];
  /** The parts that write a value as it is. */
  readonly raw: readonly AuthoredPart[];
  /** The places that other templates fill. */
  readonly slots: PartSlots;
}

/** The places in each part that other templates fill, in their order; parts without one are left out. */
export type PartSlots = { readonly [Part in AuthoredPart]?: readonly Slot[] };

/** The circumstances of sources that are read. */
export interface ReadingRules {
  /** True where they are around the content of templates. */
  readonly isLayout?: boolean;
  /**
   * The language of their bodies; null and absent where none is known. A line may be of the template that a
   * translation belongs to.
   */
  readonly language?: string | null;
}

/** Reads sources as their author wrote them, and finds every part that is wrong. */
export function examine(
  authored: Readonly<Partial<Record<AuthoredPart, string | null>>>,
  { isLayout = false, language = null }: ReadingRules = {},
): Findings {
  const problems: PartProblem[] = [];
  const names = new Set<string>();
  const raw: AuthoredPart[] = [];
  const slots: { [Part in AuthoredPart]?: readonly Slot[] } = {};
  for (const [name, source] of Object.entries(authored)) {
    if (source === null || source === undefined) continue;
    const part = name as AuthoredPart;
    const engine = part === 'html' ? htmlLiquid : textLiquid;
    try {
      const parsed = engine.parse(source);
      engine.examineValues(parsed, part === 'subject' || part === 'previewText' ? null : language);
      const filled = engine.slotsOf(parsed).filter((slot) => isLayout || slot.partial !== null);
      if (filled.length > 0) slots[part] = filled;
      const used = isLayout ? namesAround(engine, source, filled) : engine.namesOf(parsed);
      for (const each of used) names.add(each);
      if (part === 'html') {
        refuseDangerousPlaces(source, scanHtml(source));
        refuseScripts(source);
      }
      if (/\|\s*raw\b/.test(source)) raw.push(part);
    } catch (error) {
      if (!(error instanceof LiquidProblem)) throw error;
      problems.push({ part, message: error.message });
    }
  }
  return { problems, names: [...names].sort(), raw, slots };
}

/** The names that sources use and do not set themselves, each source on its own. @throws LiquidProblem */
export function namesIn(sources: readonly AuthoredSource[]): readonly string[] {
  const names = sources.flatMap(({ part, source }) => {
    const engine = part === 'html' ? htmlLiquid : textLiquid;
    return engine.namesOf(engine.parse(source));
  });
  return [...new Set(names)].sort();
}

/** The names that a layout uses itself. Its content is a place, which nothing else may read. */
function namesAround(engine: LiquidEngine, layout: string, slots: readonly Slot[]): readonly string[] {
  const content = slots.filter(({ partial }) => partial === null);
  const [first, second] = content;
  if (!first)
    throw new LiquidProblem('A layout must have {{ content }} once, where the content of a template goes.');
  if (second)
    throw new LiquidProblem(
      `${placeInWords(layout, second.begin)}: a layout must have {{ content }} once; this one has it ${content.length} times.`,
    );
  const around = layout.slice(0, first.begin) + layout.slice(first.end);
  const names = engine.namesOf(engine.parse(around));
  if (names.some((name) => /^content\b/.test(name)))
    throw new LiquidProblem(
      'A layout must have {{ content }} as it is: without filters, and in no other tag.',
    );
  return names;
}

/**
 * Refuses an html that was made of other sources: one that writes values where escaping does not help, one
 * with links that run scripts, and, where `isSplit`, one whose blocks the markup has torn apart. @throws
 * LiquidProblem
 */
export function examineMade(html: string, isSplit: boolean): void {
  const placed = scanHtml(html);
  if (isSplit) refuseSplitBlocks(placed);
  refuseDangerousPlaces(html, placed);
  refuseScripts(html);
}

/** Refuses links that run a script whatever the values are. */
function refuseScripts(html: string): void {
  if (runsScripts(html, true)) throw new LiquidProblem(RUNS_SCRIPTS);
}

/** True when a source is too long, in octets. */
export const isTooLong = (source: string): boolean => Buffer.byteLength(source) > LIQUID_LIMITS.source;
