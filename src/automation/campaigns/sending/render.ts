import type { Failure } from '../../../platform/errors/failure.ts';
import type { TemplateContents } from '../../templates/commands.ts';
import type { KeptContent } from '../preview/content.ts';

type Rendered = Exclude<Awaited<ReturnType<TemplateContents['render']>>, Failure>;

/** The email of a campaign that is rendered, and for whom. */
export interface Rendering {
  readonly workspaceId: string;
  readonly campaignId: string;
  /** The moment that the email's id tells, whenever it is rendered. */
  readonly bornAt: number;
  readonly contact: Readonly<Record<string, unknown>>;
  readonly preferencesUrl?: string;
}

/** Which parts are rendered: the subject when the email is born, the rest when it leaves, all for one that was born without it. */
export type Part = 'subject' | 'body' | 'all';

/** Renders what a campaign keeps for one recipient, the same at its birth and when it leaves. @throws Unavailable */
export function renderKept(
  contents: TemplateContents,
  { workspaceId, campaignId, bornAt, contact, preferencesUrl = '' }: Rendering,
  kept: KeptContent,
  part: Part,
): Promise<Rendered | Failure> {
  const { sources } = kept.content;
  const chosen =
    part === 'all'
      ? sources
      : part === 'body'
        ? { ...sources, subject: null }
        : { subject: sources.subject, previewText: null, html: null, text: null };
  return contents.render({
    ...{ workspaceId, key: `${campaignId} ${kept.startedAt} ${part}`, values: kept.values },
    content: { ...kept.content, sources: chosen },
    circumstances: { contact, campaign: { name: kept.name }, preferencesUrl },
    ...{ now: bornAt, at: '/body', purpose: 'send' },
  });
}
