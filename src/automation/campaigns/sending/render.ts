import type { Failure } from '../../../platform/errors/failure.ts';
import type { TemplateContents } from '../../templates/commands.ts';
import { contentFor, type KeptContent } from '../preview/content.ts';

type RenderedCampaignEmail = Exclude<Awaited<ReturnType<TemplateContents['render']>>, Failure>;

/** The email to render, and its recipient. */
export interface RenderOrder {
  readonly workspaceId: string;
  readonly campaignId: string;
  /** The time in the email's id, whenever it is rendered. */
  readonly createdAt: number;
  readonly contact: Readonly<Record<string, unknown>>;
  readonly preferencesUrl?: string;
}

/**
 * The parts to render: the subject at acceptance, the rest when the email leaves, all for an email that was
 * accepted without a subject.
 */
export type Part = 'subject' | 'body' | 'all';

/**
 * Renders the stored content of a campaign for one recipient, with the same result at acceptance and when the
 * email leaves.
 * @throws UnavailableError
 */
export function renderKept(
  contents: TemplateContents,
  { workspaceId, campaignId, createdAt, contact, preferencesUrl = '' }: RenderOrder,
  kept: KeptContent,
  part: Part,
): Promise<RenderedCampaignEmail | Failure> {
  const content = contentFor(kept, contact);
  const { sources } = content;
  const chosen =
    part === 'all'
      ? sources
      : part === 'body'
        ? { ...sources, subject: null }
        : { ...sources, previewText: null, html: null, text: null };
  return contents.render({
    workspaceId,
    key: `${campaignId} ${kept.startedAt} ${part} ${content.language}`,
    values: kept.values,
    content: { ...content, sources: chosen },
    circumstances: { contact, campaign: { name: kept.name }, preferencesUrl },
    now: createdAt,
    at: '/body',
    purpose: 'send',
  });
}
