import type { MarkdownRenderer } from '../../../mail/content/markdown-renderer.ts';
import { inLanguage } from '../../../mail/html/html-language.ts';
import { LiquidProblem, TooSlow } from '../../../mail/liquid/limits.ts';
import type { LiquidRenderer } from '../../../mail/liquid/liquid-renderer.ts';
import type { AuthoredPart, Sources } from '../../../mail/liquid/parts.ts';
import { hasLiquid } from '../../../mail/liquid/pieces.ts';
import type { HangUpSignal } from '../../../platform/async/deadline.ts';
import { Failure, invalid, invalidAt } from '../../../platform/errors/failure.ts';
import { TRANSLATIONS_SIZE } from '../languages/translation-model.ts';
import { authoredIn, contentIn, pointerOf } from '../languages/translations.ts';
import { placed } from '../layers/compose.ts';
import type { TemplateKind } from '../layers/layer-model.ts';
import { type ComposedContent, composed, type FindLayer } from '../layers/layers.ts';
import { BODY_OF, type TemplateFormat } from '../model.ts';
import type { Owner } from '../store.ts';
import type { Versions } from '../versions.ts';
import { NOTHING, type StoredContent, sampleValues, saysTheSame, type VersionContent } from './content.ts';
import { inSource, noteIn, refusalIn } from './made-places.ts';
import { frameOf } from './mjml-frame.ts';
import type { MadeTranslation } from './stored-content.ts';

/** The dependencies of compiling content. */
export interface Compilers {
  readonly liquid: LiquidRenderer;
  readonly markdown: Pick<MarkdownRenderer, 'renderTemplate' | 'renderMjml'>;
  readonly versions: Pick<Versions, 'find' | 'read'>;
}

/** The circumstances of compiling. */
export interface CompileOrder {
  readonly owner: Owner;
  /** The template of the content; null where it is stored nowhere. */
  readonly id: string | null;
  readonly kind: TemplateKind;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly unheard?: HangUpSignal | undefined;
}

/** Content whose Liquid was read, with its layers written into it. */
interface Layered extends Pick<ComposedContent, 'parts' | 'layers' | 'inherited' | 'untranslated'> {
  readonly content: VersionContent;
  readonly found: Pick<StoredContent, 'names' | 'raw' | 'slots'>;
}

/**
 * Makes content ready to be rendered, or says everything that is wrong with it: its Liquid is read, its
 * layouts and partials are written into it, markdown becomes html with the Liquid still in it, and the whole
 * is rendered once with sample values, so that what can never be rendered is refused when it is saved.
 * @throws UnavailableError
 */
export async function compile(
  compilers: Compilers,
  authored: VersionContent,
  order: CompileOrder,
): Promise<StoredContent | Failure> {
  const within = { ...compilers, versions: ofOneMoment(compilers.versions) };
  const own = await compileOne(within, authored, order);
  if (own instanceof Failure) return own;
  return withTranslations(own, (content) => compileOne(within, content, order));
}

/**
 * Compiles content in one of its languages alone, as its author looks at it: by itself, or in a translation.
 * @throws UnavailableError
 */
export async function compileShown(
  compilers: Compilers,
  authored: VersionContent,
  language: string | null,
  order: CompileOrder,
): Promise<StoredContent | Failure> {
  const translation = language === null ? undefined : authored.translations[language];
  const within = { ...compilers, versions: ofOneMoment(compilers.versions) };
  if (language === null || !translation) return compileOne(within, authored, order);
  const made = await compileOne(within, authoredIn(authored, language, translation), order);
  return made instanceof Failure ? problemsIn(language, made) : made;
}

async function compileOne(
  compilers: Compilers,
  authored: VersionContent,
  order: CompileOrder,
): Promise<StoredContent | Failure> {
  const layered = await layer(compilers, authored, order);
  return layered instanceof Failure ? layered : make(compilers, layered, order);
}

/** Templates as they were when each was looked up first: a layer is in one version in all languages. */
function ofOneMoment(versions: Compilers['versions']): Compilers['versions'] {
  const found = new Map<string, ReturnType<Versions['find']>>();
  return {
    find(owner, name) {
      const row = found.get(name) ?? versions.find(owner, name);
      found.set(name, row);
      return row;
    },
    read: (row, version) => versions.read(row, version),
  };
}

/**
 * Compiles a version with another subject and preview text. Its layers stay those of the version. @throws
 * UnavailableError
 */
export async function withLines(
  compilers: Compilers,
  stored: StoredContent,
  lines: Lines,
  order: CompileOrder,
): Promise<StoredContent | Failure> {
  const translations = Object.fromEntries(
    Object.entries(stored.translations).map(([language, own]) => [
      language,
      { ...own, ...linesOver(own, lines) },
    ]),
  );
  const content = { ...stored, ...linesOver(stored, lines), translations };
  if (saysTheSame(content, stored)) return stored;
  const own = await relined(compilers, stored, content, order);
  if (own instanceof Failure) return own;
  return withTranslations({ ...own, translations }, (authored) =>
    relined(compilers, contentIn(stored, authored.language), authored, order),
  );
}

type Lines = Pick<VersionContent, 'subject' | 'previewText'>;

/** The lines that are given, and those that were there in place of others. */
const linesOver = (own: Lines, { subject, previewText }: Lines): Lines => ({
  subject: subject ?? own.subject,
  previewText: previewText ?? own.previewText,
});

const TOO_LARGE = `Must make at most ${TRANSLATIONS_SIZE.made.toLocaleString('en')} characters with its layouts and partials, all languages together.`;

/** A version with its translations, each made by `make`, and the layers of all. */
async function withTranslations(
  own: StoredContent,
  make: (authored: VersionContent) => Promise<StoredContent | Failure>,
): Promise<StoredContent | Failure> {
  const translated: Record<string, MadeTranslation> = {};
  const layers = new Map(own.layered?.layers.map((layer) => [layer.templateId, layer]));
  let characters = 0;
  for (const [language, translation] of Object.entries(own.translations)) {
    const made = await make(authoredIn(own, language, translation));
    if (made instanceof Failure) return problemsIn(language, made);
    const { sources, names, raw, slots, layered, notes, untranslated = [] } = made;
    translated[language] = { sources, names, raw, slots, layered, notes, untranslated };
    for (const layer of layered?.layers ?? []) layers.set(layer.templateId, layer);
    for (const text of [sources.html, sources.text, layered?.body]) characters += text?.length ?? 0;
    if (characters > TRANSLATIONS_SIZE.made) return invalidAt('/body/translations', TOO_LARGE);
  }
  const all = [...layers.values()];
  const layered =
    all.length === (own.layered?.layers.length ?? 0)
      ? own.layered
      : { ...(own.layered ?? { inherited: [], stretches: {}, body: null }), layers: all };
  return { ...own, layered, translated };
}

/** Problems of a translation, with the pointers of its members. */
function problemsIn(language: string, failure: Failure): Failure {
  const { details } = failure.extra;
  if (!details) return failure;
  return invalid(
    details.map(({ path, message }) => {
      const member = path.slice(path.lastIndexOf('/') + 1);
      return path === '/body' || member === 'layoutId'
        ? { path, message: `In ${language}: ${message}` }
        : { path: pointerOf(language, member), message };
    }),
  );
}

async function relined(
  compilers: Compilers,
  stored: StoredContent,
  lines: VersionContent,
  order: CompileOrder,
): Promise<StoredContent | Failure> {
  const { language, subject, previewText } = lines;
  // The bodies stay as they were made: their layers may have other versions by now.
  const read = await layer(compilers, { ...NOTHING, language, subject, previewText }, order);
  if (read instanceof Failure) return read;
  const { sources, layered, names, raw, slots } = stored;
  const text = (part: AuthoredPart, source: string | null) =>
    source === null ? null : { text: source, stretches: layered?.stretches[part] ?? [] };
  const body = layered?.body ?? stored.markdown ?? stored.mjml;
  const parts = {
    subject: read.parts.subject,
    previewText: read.parts.previewText,
    html: text('html', stored.format === 'html' ? sources.html : null),
    markdown: text('markdown', stored.format === 'emailmd' ? body : null),
    mjml: text('mjml', stored.format === 'mjml' ? body : null),
    text: text('text', stored.text === null ? null : sources.text),
  };
  const found = { names: [...new Set([...names, ...read.found.names])].sort(), raw, slots };
  const { layers = [], inherited = [] } = layered ?? {};
  const untranslated = [...new Set([...(stored.untranslated ?? []), ...read.untranslated])];
  const pinned = { layers: [...layers, ...read.layers], inherited, untranslated };
  return make(compilers, { content: { ...stored, ...lines }, found, parts, ...pinned }, order);
}

/** Reads the Liquid of what an author wrote, and writes its layers into it. */
async function layer(
  { liquid, versions }: Compilers,
  authored: VersionContent,
  { owner, id, kind }: CompileOrder,
): Promise<Layered | Failure> {
  const { subject, previewText, html, markdown, mjml, text } = authored;
  const findings = await liquid.examine(
    owner.workspaceId,
    { subject, previewText, html, markdown, mjml, text },
    { isLayout: kind === 'layout', language: authored.language },
  );
  const problems =
    findings instanceof LiquidProblem
      ? [{ part: bodyOf(authored), message: findings.message }]
      : findings.problems;
  if (problems.length > 0 || findings instanceof LiquidProblem)
    return invalid(problems.map(({ part, message }) => ({ path: `/body/${part}`, message })));
  const { raw, slots } = findings;
  const find: FindLayer = async (scope, name) => {
    const row = await versions.find(scope, name);
    return row && versions.read(row);
  };
  const composition = await composed(find, { owner, id, kind, content: authored, slots });
  if ('path' in composition) return invalid([composition]);
  const { parts, layoutId, layers, inherited, untranslated } = composition;
  const names =
    layers.length === 0 ? findings.names : await namesAround(liquid, owner, parts, findings.names);
  const found = { names, raw, slots };
  return { content: { ...authored, layoutId }, found, parts, layers, inherited, untranslated };
}

/** The names of content with its layers in it: each may use what another one sets. */
async function namesAround(
  liquid: Compilers['liquid'],
  { workspaceId }: Owner,
  parts: Layered['parts'],
  own: readonly string[],
): Promise<readonly string[]> {
  const sources = (Object.keys(parts) as (keyof typeof parts)[]).flatMap((part) => {
    const source = parts[part]?.text;
    return source === undefined ? [] : [{ part, source }];
  });
  const names = await liquid.namesIn(workspaceId, sources);
  // The rendering that follows says why it cannot be read.
  return names instanceof LiquidProblem ? own : names;
}

/** Makes what is rendered of content with its layers. */
async function make(
  { liquid, markdown }: Compilers,
  { content: authored, found, parts, layers, inherited, untranslated }: Layered,
  { owner: { workspaceId: owner }, kind, now, unheard }: CompileOrder,
): Promise<StoredContent | Failure> {
  const { format } = authored;
  const [subject, previewText, html, text] = [parts.subject, parts.previewText, parts.html, parts.text].map(
    (part) => part?.text ?? null,
  ) as [string | null, string | null, string | null, string | null];
  const isComposed = layers.length > 0 || kind === 'layout';
  const refused = (part: AuthoredPart, message: string): Failure => {
    const from = parts[part];
    return invalidAt(`/body/${part}`, isComposed && from ? placed(message, from) : message);
  };

  const said = { language: authored.language };
  const placesLanguage = authored.language !== null && kind !== 'partial';
  let sources: Sources = { subject, previewText, html, text, placesPreview: true, ...said, placesLanguage };
  if (format === 'html' && isComposed && html !== null) {
    const wrong = await liquid.examineMade(owner, html, false);
    if (wrong) return refused('html', wrong.message);
  }
  // The html of the other formats has its element from the start.
  const spoken = (made: string): string =>
    placesLanguage && authored.language !== null ? inLanguage(made, authored.language) : made;
  if (format === 'emailmd') {
    const made = await markdown.renderTemplate(spaced(parts.markdown?.text ?? ''), {
      owner,
      title: subject ?? '',
      previewText,
      ...said,
      unheard,
    });
    if (made instanceof Failure) return made;
    const bare = unwrapped(made.html);
    const split = await liquid.examineMade(owner, bare);
    if (split) return refused('markdown', inSource(split.message, bare, parts.markdown?.text ?? ''));
    sources = { subject, previewText, html: spoken(bare), text: text ?? made.text, ...said };
  }
  let notes: StoredContent['notes'] = [];
  if (format === 'mjml') {
    const mjml = parts.mjml ?? { text: '', stretches: [] };
    const framed = kind === 'partial' ? frameOf(mjml.text) : { before: '', after: '' };
    const made = await markdown.renderMjml(framed.before + mjml.text + framed.after, {
      owner,
      path: '/body/mjml',
      ...said,
      unheard,
    });
    const whole = { mjml, before: framed.before, isComposed };
    if (made instanceof Failure) return refusalIn(made, whole);
    const split = await liquid.examineMade(owner, made.html);
    if (split) return refused('mjml', inSource(split.message, made.html, mjml.text));
    sources = { subject, previewText, html: spoken(made.html), text, placesPreview: true, ...said };
    notes = made.notes.map((note) => noteIn(note, whole));
  }
  const layered: StoredContent['layered'] = isComposed
    ? {
        layers,
        inherited,
        body: parts.markdown?.text ?? parts.mjml?.text ?? null,
        stretches: Object.fromEntries(
          Object.entries(parts).flatMap(([part, made]) => (made ? [[part, made.stretches]] : [])),
        ),
      }
    : null;
  const content: StoredContent = {
    ...authored,
    sources,
    ...found,
    layered,
    notes,
    untranslated,
    translated: {},
  };
  // Nothing is rendered of what has no Liquid; a busy machine must not call it slow.
  if (
    ![subject, previewText, sources.html, sources.text].some((source) => source !== null && hasLiquid(source))
  )
    return content;
  const trial = await liquid.render({
    owner,
    key: null,
    sources,
    scope: { names: sampleValues([...authored.variables, ...inherited]), now },
  });
  // Content that fails with the sample values may render with others.
  if (trial instanceof LiquidProblem && (trial instanceof TooSlow || !trial.dependsOnValues)) {
    const part = trial.part === null || trial.part === 'html' ? bodyOf(authored) : trial.part;
    return part === trial.part ? refused(part, trial.message) : refusedAt(part, trial.message);
  }
  return content;
}

/** The part that a problem of the whole content names. */
export const bodyOf = ({
  format,
  html,
}: Pick<VersionContent, 'format' | 'html'>): (typeof BODY_OF)[TemplateFormat] | 'text' =>
  format === 'html' && html === null ? 'text' : BODY_OF[format];

const refusedAt = (part: string, message: string): Failure => invalidAt(`/body/${part}`, message);

/**
 * Tags that open, divide or close a block, alone in their line. A tag ends at its first end: else several
 * could be cut in any way. Runs are taken whole: letter by letter, 240 KB of signs took half a second.
 */
const CONTROL_LINE =
  /^[ \t]*(?:\{%-?[ \t]*(?:end)?(?:if|unless|case|for|tablerow|capture|render|elsif|else|when|assign|comment)\b[^%\n]*(?:%+(?![%}])[^%\n]+)*%*%\}[ \t]*)+$/gm;

/**
 * Markdown whose control lines are separate paragraphs, so that they do not become part of a list or of a
 * sentence.
 */
const spaced = (markdown: string): string => markdown.replace(CONTROL_LINE, (line) => `\n${line.trim()}\n`);

/** Html without paragraphs that hold nothing but such tags. */
const unwrapped = (html: string): string =>
  html.replace(/<p\b[^>]*>\s*((?:\{%[^{}]*?%\}\s*)+)<\/p>/g, (_, tags: string) => tags.trim());
