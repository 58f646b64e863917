import type { MarkdownRenderer } from '../../../mail/content/markdown-renderer.ts';
import { LiquidProblem, TooSlow } from '../../../mail/liquid/limits.ts';
import type { LiquidRenderer } from '../../../mail/liquid/liquid-renderer.ts';
import type { Sources } from '../../../mail/liquid/parts.ts';
import { hasLiquid } from '../../../mail/liquid/pieces.ts';
import type { HangUpSignal } from '../../../platform/async/deadline.ts';
import { Failure, invalid } from '../../../platform/errors/failure.ts';
import { BODY_OF, type TemplateFormat } from '../model.ts';
import { type StoredContent, sampleValues, type VersionContent } from './content.ts';

/** The dependencies of compiling content. */
export interface Compilers {
  readonly liquid: LiquidRenderer;
  readonly markdown: Pick<MarkdownRenderer, 'renderTemplate' | 'renderMjml'>;
}

/**
 * Makes content ready to be rendered, or says everything that is wrong with it: its Liquid is read, markdown becomes html with the
 * Liquid still in it, and the whole is rendered once with sample values, so that what can never be rendered is refused when it is
 * saved. @throws UnavailableError
 */
export async function compile(
  { liquid, markdown }: Compilers,
  owner: string,
  authored: VersionContent,
  now: number,
  unheard?: HangUpSignal,
): Promise<StoredContent | Failure> {
  const { format, subject, previewText, html, text } = authored;
  const findings = await liquid.examine(owner, {
    subject,
    previewText,
    html,
    markdown: authored.markdown,
    mjml: authored.mjml,
    text,
  });
  const found =
    findings instanceof LiquidProblem
      ? [{ part: bodyOf(authored), message: findings.message }]
      : findings.problems;
  if (found.length > 0 || findings instanceof LiquidProblem)
    return invalid(found.map(({ part, message }) => ({ path: `/body/${part}`, message })));

  let sources: Sources = { subject, previewText, html, text, placesPreview: true };
  if (format === 'emailmd') {
    const made = await markdown.renderTemplate(spaced(authored.markdown ?? ''), {
      ...{ owner, title: subject ?? '', previewText, unheard },
    });
    if (made instanceof Failure) return made;
    const bare = unwrapped(made.html);
    const split = await liquid.examineMade(owner, bare);
    if (split) return refusedAt('markdown', split.message);
    sources = { subject, previewText, html: bare, text: text ?? made.text };
  }
  let notes: StoredContent['notes'] = [];
  if (format === 'mjml') {
    const made = await markdown.renderMjml(authored.mjml ?? '', { owner, path: '/body/mjml', unheard });
    if (made instanceof Failure) return made;
    const split = await liquid.examineMade(owner, made.html);
    if (split) return refusedAt('mjml', split.message);
    sources = { subject, previewText, html: made.html, text, placesPreview: true };
    notes = made.notes;
  }
  const content: StoredContent = { ...authored, sources, names: findings.names, raw: findings.raw, notes };
  // Nothing is rendered of what has no Liquid; a busy machine must not call it slow.
  if (
    ![subject, previewText, sources.html, sources.text].some((source) => source !== null && hasLiquid(source))
  )
    return content;
  const trial = await liquid.render({
    ...{ owner, key: null, sources },
    scope: { names: sampleValues(authored.variables), now },
  });
  // Content that fails with the sample values may render with others.
  if (trial instanceof LiquidProblem && (trial instanceof TooSlow || !trial.dependsOnValues))
    return refusedAt(
      trial.part === null || trial.part === 'html' ? bodyOf(authored) : trial.part,
      trial.message,
    );
  return content;
}

/** The part that a problem of the whole content names. */
export const bodyOf = ({
  format,
  html,
}: Pick<VersionContent, 'format' | 'html'>): (typeof BODY_OF)[TemplateFormat] | 'text' =>
  format === 'html' && html === null ? 'text' : BODY_OF[format];

const refusedAt = (part: string, message: string): Failure => invalid([{ path: `/body/${part}`, message }]);

/** Tags that open, divide or close a block, alone in their line. A tag ends at its first end: else several could be cut in any way. */
const CONTROL_LINE =
  /^[ \t]*(?:\{%-?[ \t]*(?:end)?(?:if|unless|case|for|tablerow|capture|elsif|else|when|assign|comment)\b(?:[^%\n]|%(?!\}))*%\}[ \t]*)+$/gm;

/**
 * Markdown whose control lines are separate paragraphs, so that they do not become part of a list or of a
 * sentence.
 */
const spaced = (markdown: string): string => markdown.replace(CONTROL_LINE, (line) => `\n${line.trim()}\n`);

/** Html without paragraphs that hold nothing but such tags. */
const unwrapped = (html: string): string =>
  html.replace(/<p\b[^>]*>\s*((?:\{%[^{}]*?%\}\s*)+)<\/p>/g, (_, tags: string) => tags.trim());
