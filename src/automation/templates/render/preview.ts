import type { Call } from '../../../http/request/route.ts';
import { filterWarnings, wayOutWarnings } from '../../../mail/content/filter-warnings.ts';
import { textPartOf } from '../../../mail/content/text-part.ts';
import type { RenderedParts } from '../../../mail/liquid/parts.ts';
import { Failure, invalid } from '../../../platform/errors/failure.ts';
import { Problems } from '../../../platform/text/problems.ts';
import { problemOfRendered } from '../../../sending/emails/queries.ts';
import type { PreviewBody, PreviewView, PreviewWarning } from '../model.ts';
import { findVersion, type TemplateReader } from '../queries.ts';
import { type Compilers, compile } from './compile.ts';
import { NOTHING, readContent, type StoredContent } from './content.ts';
import { htmlWarnings } from './html-warnings.ts';
import type { RenderTemplate } from './rendering.ts';

/** The services that a preview calls. */
export interface Previewer extends TemplateReader, Compilers {
  readonly render: RenderTemplate;
}

interface PreviewSource {
  readonly content: StoredContent;
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
] as const;
const EITHER = 'Must not be given together with templateId, whose content it would be.';
const WITHOUT = 'Must be given only with templateId.';

/** Renders a stored template, or content that is stored nowhere, the way an email would be. Nothing is sent. */
export async function previewTemplate(
  previewer: Previewer,
  call: Call<unknown, unknown, PreviewBody>,
): Promise<PreviewView | Failure> {
  const { caller, body, now } = call;
  const chosen = await choose(previewer, call);
  if (chosen instanceof Failure) return chosen;
  const { content, key, templateId, version } = chosen;
  const values = body.variables ?? {};
  const rendered = await previewer.render({
    ...{ workspaceId: caller.workspaceId, key, content, values, now },
    ...{ at: '/body', purpose: 'preview' },
  });
  if (rendered instanceof Failure) return rendered;
  const { subject, previewText, html, text } = rendered.parts;
  const wrong = problemOfSubject(content, values, subject);
  if (wrong !== null) return invalid([{ path: '/body/subject', message: wrong }]);
  const asText = textPartOf({ html, text });
  return {
    ...{ templateId, version, subject, previewText, html, text: asText },
    from: content.from,
    replyTo: [...content.replyTo],
    missingVariables: missingIn(content, rendered.names),
    warnings: warningsOf(content, values, rendered.parts),
    sizeBytes: Buffer.byteLength(html ?? asText ?? ''),
  };
}

/**
 * The problem for which sending refuses the subject of these values. A request may give the one that the
 * template lacks, and while a required variable has no value, nothing is known of it: that one is listed.
 */
function problemOfSubject(
  { variables }: StoredContent,
  values: Readonly<Record<string, unknown>>,
  subject: string | null,
): string | null {
  const lacks = variables.some(({ key, required }) => required && memberOf(values, key) == null);
  return subject === null || (lacks && !/\S/.test(subject)) ? null : problemOfRendered(subject);
}

async function choose(
  previewer: Previewer,
  { caller, body, now, unheard }: Call<unknown, unknown, PreviewBody>,
): Promise<PreviewSource | Failure> {
  const problems = new Problems();
  if (body.templateId !== undefined) {
    for (const member of CONTENT) if (body[member] !== undefined) problems.report(`/body/${member}`, EITHER);
    const refused = problems.failure();
    if (refused) return refused;
    const found = await findVersion(previewer, caller, body.templateId, body.version);
    if (found instanceof Failure) return found;
    const { row, version, content } = found;
    return { content, key: keyOf(row.id, version), templateId: row.id, version };
  }
  if (body.version !== undefined) problems.report('/body/version', WITHOUT);
  const { declared, variables: _values, kind = 'template', ...given } = body;
  const authored = readContent(
    { ...given, ...(declared && { variables: declared }) },
    NOTHING,
    problems.report,
    { kind, declaredAt: '/body/declared' },
  );
  const refused = problems.failure();
  if (refused) return refused;
  const content = await compile(previewer, authored, { owner: caller, id: null, kind, now, unheard });
  return content instanceof Failure ? content : { content, key: null, templateId: null, version: null };
}

/** By what the parsed sources of a version are known. */
export const keyOf = (templateId: string, version: number): string => `${templateId} ${version}`;

/** Names that the service fills in where there is something to fill in. */
const FILLED_LATER = /^(?:unsubscribeUrl|preferencesUrl)\b/;

/** Used names that have no value and no `default`. */
function missingIn(content: StoredContent, names: Readonly<Record<string, unknown>>): string[] {
  const written = [
    ...[content.subject, content.previewText, content.html, content.markdown, content.mjml],
    ...(content.layered ? [content.sources.html, content.layered.body] : []),
    content.text,
  ].join('\n');
  return content.names.filter((path) => {
    if (FILLED_LATER.test(path)) return false;
    const value = path.split(/[.[\]'"]+/).reduce<unknown>(memberOf, names);
    return (value === undefined || value === null) && !hasDefault(written, path);
  });
}

function memberOf(value: unknown, name: string): unknown {
  if (name === '') return value;
  if (typeof value === 'string') return name === 'size' ? value.length : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (Object.hasOwn(value, name)) return (value as Readonly<Record<string, unknown>>)[name];
  return madeOf(value, name);
}

/** The names by which Liquid knows the length and the ends of what has no such members. */
function madeOf(value: object, name: string): unknown {
  if (name === 'size') return Object.keys(value).length;
  if (!Array.isArray(value)) return undefined;
  return name === 'first' ? value[0] : name === 'last' ? value.at(-1) : undefined;
}

const hasDefault = (written: string, path: string): boolean => {
  const at = written.indexOf(path);
  return at !== -1 && /^\s*\|\s*default\b/.test(written.slice(at + path.length));
};

/** Names that have values in campaigns and flows alone: people may leave these. */
const OF_LISTS = ['contact', 'campaign', 'event'];

/** Gmail shows the first 102 KB of an email; links that are counted and a footer make it longer. */
const CLIPPED = 92_160;

function warningsOf(
  content: StoredContent,
  values: Readonly<Record<string, unknown>>,
  parts: RenderedParts,
): PreviewWarning[] {
  const { html } = parts;
  const used = new Set(content.names.map((path) => path.split(/[.[]/)[0]));
  const idle = Object.keys(values).filter((name) => !used.has(name));
  const warnings: PreviewWarning[] = [];
  const warn = (code: string, message: string) => warnings.push({ code, message, line: null, column: null });
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
  // Content with neither a list nor the link is mail without a way to unsubscribe: a receipt, a new password.
  const isForLists = [...OF_LISTS, 'unsubscribeUrl'].some((name) => used.has(name));
  const told = [
    ...(isForLists ? wayOutWarnings(parts) : []),
    ...filterWarnings(parts, { opens: false, clicks: false }),
  ];
  for (const { code, message } of told) warn(code, message);
  if (used.has('preferencesUrl'))
    warn('no_preferences_page', 'Nothing fills in preferencesUrl in an email that is sent by a request.');
  if (html === null) return warnings;
  if (Buffer.byteLength(html) > CLIPPED)
    warn(
      'clipped',
      'The html is longer than 90 KB: Gmail shows the first 102 KB of an email and hides the rest.',
    );
  return [...warnings, ...htmlWarnings(html, content.format === 'html')];
}
