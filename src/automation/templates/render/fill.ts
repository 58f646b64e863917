import { LruMap } from '../../../platform/async/lru-map.ts';
import { Failure } from '../../../platform/errors/failure.ts';
import { languageIn } from '../../../platform/text/language.ts';
import type { FilledTemplate, TemplateFilling } from '../../../sending/emails/queries.ts';
import { chosenLanguage, contentIn } from '../languages/translations.ts';
import { NO_TEMPLATE, NO_VERSION, problemOfKind, type TemplateReader } from '../queries.ts';
import type { TemplateRow } from '../store.ts';
import { keyOf } from './preview.ts';
import type { RenderTemplate } from './rendering.ts';

/** Templates of which the row that was found last is remembered. */
const MOST_REMEMBERED = 1_000;

/**
 * Fills templates for the acceptance of emails. Where the caller sees to it that an email of a template that
 * has changed is not accepted (`mayBeRemembered`), the row that was found last is taken: the look at the
 * template, one more statement for each batch of emails, cost an email of 2 kB a tenth of its processor time.
 */
export function templateFiller(reader: Pick<TemplateReader, 'versions'>, render: RenderTemplate) {
  const remembered = new LruMap<string, TemplateRow>({ entries: MOST_REMEMBERED });

  const fill = async (
    row: TemplateRow,
    { owner, version, values, language, circumstances, now, at }: TemplateFilling,
    rememberedRevision: number | null,
  ): Promise<FilledTemplate | Failure> => {
    const found = await reader.versions.read(row, version);
    if (!found) return NO_VERSION;
    const asked = language ?? languageOfContact(circumstances?.contact);
    const translation = chosenLanguage(found.content, asked);
    const content = contentIn(found.content, translation);
    const { workspaceId } = owner;
    const key = keyOf(row.id, found.version, translation);
    // Written out, here and wherever an email of a template comes along: each spread costs a microsecond.
    const rendered = await render({
      workspaceId,
      key,
      content,
      values,
      circumstances,
      now,
      at,
      purpose: 'send',
    });
    if (rendered instanceof Failure) return rendered;
    const { subject, html, text } = rendered.parts;
    const { from, replyTo } = content;
    return {
      templateId: row.id,
      version: found.version,
      language: content.language,
      subject,
      html,
      text,
      from,
      replyTo,
      rememberedRevision,
    };
  };

  return async (asked: TemplateFilling): Promise<FilledTemplate | Failure> => {
    const { owner, name, mayBeRemembered } = asked;
    const place = `${owner.workspaceId} ${owner.livemode} ${name}`;
    const known = mayBeRemembered ? remembered.get(place) : undefined;
    if (known) {
      const filled = await fill(known, asked, known.revision);
      if (!(filled instanceof Failure)) return filled;
      // The template as it is now may be another one. What is refused is not remembered, so that it is
      // rendered once.
      remembered.delete(place);
    }
    const row = await reader.versions.find(owner, name);
    if (!row) return NO_TEMPLATE;
    const wrong = problemOfKind(row, `${asked.at}/templateId`);
    if (wrong) return wrong;
    const filled = await fill(row, asked, null);
    if (filled instanceof Failure) remembered.delete(place);
    else remembered.set(place, row);
    return filled;
  };
}

/** The language that a contact prefers: a property that people, imports and forms write. */
export const languageOfContact = (
  contact: Readonly<Record<string, unknown>> | null | undefined,
): string | null =>
  languageIn(
    (contact as { readonly properties?: { readonly language?: unknown } } | null)?.properties?.language,
  );

/** The function that makes emails of templates. @throws UnavailableError */
export type FillTemplate = ReturnType<typeof templateFiller>;
