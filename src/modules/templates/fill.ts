import { Failure } from '../../http/failure.ts';
import type { FilledTemplate } from '../emails/queries.ts';
import { keyOf } from './preview.ts';
import { findVersion, type TemplateReader } from './queries.ts';
import type { Circumstances, RenderTemplate } from './rendering.ts';
import type { Owner } from './store.ts';

/** A template to be filled with the values of one email. */
export interface Filling {
  readonly owner: Owner;
  /** The template, by its id or alias. */
  readonly name: string;
  /** The version that is sent when left out. */
  readonly version?: number | undefined;
  readonly values: Readonly<Record<string, unknown>>;
  readonly circumstances?: Circumstances;
  readonly now: number;
  /** The JSON pointer of the request. */
  readonly at: string;
}

/** Fills templates for whoever sends emails. */
export const templateFiller =
  (reader: Pick<TemplateReader, 'versions'>, render: RenderTemplate) =>
  async ({
    owner,
    name,
    version,
    values,
    circumstances,
    now,
    at,
  }: Filling): Promise<FilledTemplate | Failure> => {
    const found = await findVersion(reader, owner, name, version);
    if (found instanceof Failure) return found;
    const { row, content } = found;
    const rendered = await render({
      ...{ workspaceId: owner.workspaceId, key: keyOf(row.id, found.version), content, values, now, at },
      ...(circumstances && { circumstances }),
      purpose: 'send',
    });
    if (rendered instanceof Failure) return rendered;
    const { subject, html, text } = rendered.parts;
    const { from, replyTo } = content;
    return { templateId: row.id, version: found.version, subject, html, text, from, replyTo };
  };

/** The function that makes emails of templates. @throws Unavailable */
export type FillTemplate = ReturnType<typeof templateFiller>;
