import { Failure } from '../../http/failure.ts';
import type { FilledTemplate } from '../emails/queries.ts';
import { keyOf } from './preview.ts';
import { NO_TEMPLATE, NO_VERSION, type TemplateReader } from './queries.ts';
import type { Circumstances, RenderTemplate } from './rendering.ts';
import type { Owner, TemplateRow } from './store.ts';

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

/** Templates of which the row that was found last is remembered. */
const MOST_REMEMBERED = 1_000;

/**
 * Fills templates for whoever sends emails. The rendering begins with the row that was found last, while it is asked what is there now:
 * mostly that is the same, and then an email waits for one of the two instead of both (2 kB: 67 to 75 % of the rate in full instead of
 * 66, 15 kB: 75 to 90 instead of 77).
 */
export function templateFiller(reader: Pick<TemplateReader, 'versions'>, render: RenderTemplate) {
  const known = new Map<string, TemplateRow>();
  const remember = (place: string, row: TemplateRow | null): void => {
    known.delete(place);
    if (!row) return;
    if (known.size >= MOST_REMEMBERED) known.delete(known.keys().next().value as string);
    known.set(place, row);
  };

  const fill = async (
    row: TemplateRow,
    { owner, version, values, circumstances, now, at }: Filling,
  ): Promise<FilledTemplate | Failure> => {
    const found = await reader.versions.read(row, version);
    if (!found) return NO_VERSION;
    const { content } = found;
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

  return async (asked: Filling): Promise<FilledTemplate | Failure> => {
    const { owner, name } = asked;
    const place = `${owner.workspaceId} ${owner.livemode} ${name}`;
    const guess = known.get(place);
    const early = guess && fill(guess, asked);
    // What came of a guess that was wrong concerns nobody.
    early?.catch(() => {});
    const row = await reader.versions.find(owner, name);
    remember(place, row);
    if (!row) return NO_TEMPLATE;
    const isRight = guess?.id === row.id && guess.revision === row.revision;
    return early && isRight ? early : fill(row, asked);
  };
}

/** The function that makes emails of templates. @throws Unavailable */
export type FillTemplate = ReturnType<typeof templateFiller>;
