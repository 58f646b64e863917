import type { Call } from '../../../http/request/route.ts';
import { CLIPPED } from '../../../mail/check/codes.ts';
import type { MjmlNote } from '../../../mail/content/render-mjml.ts';
import { textPartOf } from '../../../mail/content/text-part.ts';
import type { RenderedParts } from '../../../mail/liquid/parts.ts';
import type { MailReader } from '../../../mail/reading/mail-reader.ts';
import { Failure, invalidAt } from '../../../platform/errors/failure.ts';
import { ownOf } from '../../../platform/text/own-member.ts';
import { placeAt } from '../../../platform/text/places.ts';
import { Problems } from '../../../platform/text/problems.ts';
import { problemOfRendered } from '../../../sending/emails/queries.ts';
import { type LanguageNote, languageNotes } from '../languages/language-notes.ts';
import { askedLanguage, chosenLanguage, contentIn } from '../languages/translations.ts';
import { findVersion, type TemplateReader } from '../queries.ts';
import { type Compilers, compileShown } from './compile.ts';
import { NOTHING, readContent, type StoredContent } from './content.ts';
import { isForLists, missingIn } from './lacking.ts';
import { noteIn } from './made-places.ts';
import type { PreviewBody, PreviewView, PreviewWarning } from './preview-model.ts';
import type { RenderTemplate } from './rendering.ts';

/** The services that a preview calls. */
export interface Previewer extends TemplateReader, Compilers {
  readonly render: RenderTemplate;
  readonly mailReader: Pick<MailReader, 'warnings'>;
}

interface PreviewSource {
  /** In the language that is shown. */
  readonly content: StoredContent;
  /** The parts that are shown in another language. */
  readonly notes: readonly LanguageNote[];
  /** The name by which the threads know the content; null where it is stored nowhere. */
  readonly key: string | null;
  readonly templateId: string | null;
  readonly version: number | null;
}

const CONTENT = [
  'kind',
  'layoutId',
  'format',
  'subject',
  'previewText',
  'html',
  'markdown',
  'mjml',
  'text',
  'from',
  'replyTo',
  'declared',
  'ownLanguage',
  'translations',
] as const;
const NO_PLACE = { line: null, column: null };
const EITHER = 'Must not be given together with templateId, whose content it would be.';
const WITHOUT = 'Must be given only with templateId.';

/**
 * Renders a stored template, or content that is stored nowhere, the way an email would be. Nothing is sent.
 */
export async function previewTemplate(
  previewer: Previewer,
  call: Call<unknown, unknown, PreviewBody>,
): Promise<PreviewView | Failure> {
  const { caller, body, now } = call;
  const language = askedLanguage(body.language, '/body/language');
  if (language instanceof Failure) return language;
  const chosen = await choose(previewer, call, language);
  if (chosen instanceof Failure) return chosen;
  const { content, key, notes, templateId, version } = chosen;
  const values = body.variables ?? {};
  const rendered = await previewer.render({
    workspaceId: caller.workspaceId,
    key,
    content,
    values,
    now,
    at: '/body',
    purpose: 'preview',
  });
  if (rendered instanceof Failure) return rendered;
  const { subject, previewText, html, text } = rendered.parts;
  const wrong = problemOfSubject(content, values, subject);
  if (wrong !== null) return invalidAt('/body/subject', wrong);
  const asText = textPartOf({ html, text });
  return {
    templateId,
    version,
    language: content.language,
    subject,
    previewText,
    html,
    text: asText,
    from: content.from,
    replyTo: [...content.replyTo],
    missingVariables: [...new Set([...missingIn(content, rendered.names), ...requiredOf(content, values)])],
    warnings: [
      ...notes.map((note) => ({ ...note, ...NO_PLACE })),
      ...(await warningsOf(previewer, caller.workspaceId, { content, values, parts: rendered.parts })),
    ],
    sizeBytes: Buffer.byteLength(html ?? asText ?? ''),
  };
}

/**
 * The problem for which sending refuses the subject of these values. A request may give the one that the
 * template lacks, and while a required variable has no value, nothing is known of it: that one is listed.
 */
function problemOfSubject(
  content: StoredContent,
  values: Readonly<Record<string, unknown>>,
  subject: string | null,
): string | null {
  const lacks = requiredOf(content, values).length > 0;
  return subject === null || (lacks && !/\S/.test(subject)) ? null : problemOfRendered(subject);
}

/**
 * The required variables without a value, for which sending refuses a request, also where nothing writes
 * them.
 */
const requiredOf = (
  { variables, layered }: StoredContent,
  values: Readonly<Record<string, unknown>>,
): string[] =>
  [...variables, ...(layered?.inherited ?? [])].flatMap(({ key, required }) =>
    required && (ownOf(values, key) ?? null) === null ? [key] : [],
  );

async function choose(
  previewer: Previewer,
  { caller, body, now, unheard }: Call<unknown, unknown, PreviewBody>,
  asked: string | null,
): Promise<PreviewSource | Failure> {
  const problems = new Problems();
  if (body.templateId !== undefined) {
    for (const member of CONTENT) if (body[member] !== undefined) problems.report(`/body/${member}`, EITHER);
    const refused = problems.failure();
    if (refused) return refused;
    const found = await findVersion(previewer, caller, body.templateId, body.version);
    if (found instanceof Failure) return found;
    const { row, version } = found;
    const translation = chosenLanguage(found.content, asked);
    const content = contentIn(found.content, translation);
    return {
      content,
      notes: languageNotes(found.content, { asked, translation, content }),
      key: keyOf(row.id, version, translation),
      templateId: row.id,
      version,
    };
  }
  if (body.version !== undefined) problems.report('/body/version', WITHOUT);
  const { declared, variables: _values, language: _shown, ownLanguage, kind = 'template', ...given } = body;
  const authored = readContent(
    {
      ...given,
      ...(declared && { variables: declared }),
      ...(ownLanguage !== undefined && { language: ownLanguage }),
    },
    NOTHING,
    problems.report,
    { kind, declaredAt: '/body/declared' },
  );
  const refused = problems.failure();
  if (refused) return refused;
  const translation = chosenLanguage(authored, asked);
  const order = { owner: caller, id: null, kind, now, unheard };
  const content = await compileShown(previewer, authored, translation, order);
  if (content instanceof Failure) return content;
  const notes = languageNotes(authored, { asked, translation, content });
  return { content, notes, key: null, templateId: null, version: null };
}

/** The name by which the parsed sources of a version are kept, of a translation where one is chosen. */
export const keyOf = (templateId: string, version: number, translation: string | null): string =>
  translation === null ? `${templateId} ${version}` : `${templateId} ${version} ${translation}`;

async function warningsOf(
  { mailReader }: Pick<Previewer, 'mailReader'>,
  owner: string,
  {
    content,
    values,
    parts,
  }: {
    readonly content: StoredContent;
    readonly values: Readonly<Record<string, unknown>>;
    readonly parts: RenderedParts;
  },
): Promise<PreviewWarning[]> {
  const { html } = parts;
  const used = new Set(content.names.map((path) => path.split(/[.[]/)[0]));
  const idle = Object.keys(values).filter((name) => !used.has(name));
  const warnings: PreviewWarning[] = [];
  const warn = (code: string, message: string, line: number | null = null) =>
    warnings.push({ code, message, line, column: null });
  for (const note of content.notes) warnings.push({ code: 'mjml', ...note });
  for (const part of content.raw)
    warn('raw_filter', `The ${part} writes a value with the filter raw: nothing escapes it.`);
  if (idle.length > 0)
    warn(
      'unused_variables',
      `The template does not use ${idle.length} of the variables given: ${idle.slice(0, 10).join(', ')}.`,
    );
  if (content.subject === null)
    warn('no_subject', 'The template has no subject: each request has to give one.');
  const mjml = content.format === 'mjml' ? (content.layered?.body ?? content.mjml ?? '') : null;
  const { ofContent, ofTags } = await mailReader.warnings(
    {
      parts: { html, text: parts.text },
      forLists: isForLists(content) ? { html, text: parts.text } : null,
      counted: { opens: false, clicks: false },
      hasLines: content.format === 'html',
      mjml,
    },
    owner,
  );
  for (const { code, message } of ofContent) warn(code, message);
  if (used.has('preferencesUrl'))
    warn('no_preferences_page', 'Nothing fills in preferencesUrl in an email that is sent by a request.');
  if (html === null) return warnings;
  if (Buffer.byteLength(html) > CLIPPED)
    warn(
      'clipped',
      'The html is longer than 90 KB: Gmail shows the first 102 KB of an email and hides the rest.',
    );
  for (const { code, message, line, at } of ofTags)
    if (at === undefined) warn(code, message, line);
    else warnings.push({ code, ...placedNote(message, at, mjml ?? '', content) });
  return warnings;
}

/** A note on an offset in MJML with its layers, with the place that its author knows. */
function placedNote(message: string, at: number, mjml: string, { layered }: StoredContent): MjmlNote {
  const stretches = layered?.stretches.mjml ?? [];
  const isComposed = layered !== null;
  return noteIn(
    { message, ...placeAt(mjml, at) },
    { mjml: { text: mjml, stretches }, before: '', isComposed },
  );
}
