import { Failure } from '../../http/failure.ts';
import { problemOfLength } from '../emails/queries.ts';
import type { TemplateContents } from '../templates/commands.ts';
import type { KeptContent } from './content.ts';
import { renderKept } from './render.ts';

/** Renderings that may take too long in one turn: the same source would take as long for everybody else. */
const MOST_SLOW = 10;
/** Rendered together while it is not known whether they are quick; then all of a chunk are. */
const TRIED = 8;
const LIQUID = /\{[{%]/;
/** The link by which a recipient chooses is in no row that others read. */
const SECRET = /\bpreferencesUrl\b/;

/** The subjects of recipients, in their order; null for one that is found when the email leaves, or why it cannot. @throws Unavailable */
export type MakeSubjects = (
  recipients: readonly { readonly contact: Readonly<Record<string, unknown>> }[],
  bornAt: number,
) => Promise<readonly (string | null)[]>;

/**
 * Makes the subjects of a campaign's emails as they are born, so that lists, filters and whoever waits for one know each as it leaves.
 * Makes none where all have the one that the campaign keeps.
 */
export function subjectsOf(
  contents: TemplateContents,
  { workspaceId, campaignId }: { readonly workspaceId: string; readonly campaignId: string },
  kept: KeptContent,
): MakeSubjects {
  const source = kept.content.sources.subject ?? '';
  if (!LIQUID.test(source) || SECRET.test(source)) return async () => [];
  let slow = 0;
  const make = async (contact: Readonly<Record<string, unknown>>, bornAt: number): Promise<string | null> => {
    if (slow >= MOST_SLOW) return null;
    const rendered = await renderKept(
      contents,
      { workspaceId, campaignId, bornAt, contact },
      kept,
      'subject',
    );
    if (rendered instanceof Failure) {
      if (rendered.code === 'SERVICE_UNAVAILABLE') slow++;
      return null;
    }
    const { subject } = rendered.parts;
    return subject === null || problemOfLength(subject) !== null ? null : subject;
  };
  let isQuick = false;
  return async (recipients, bornAt) => {
    const made: (string | null)[] = [];
    while (made.length < recipients.length) {
      const before = slow;
      const next = recipients.slice(made.length, isQuick ? undefined : made.length + TRIED);
      made.push(...(await Promise.all(next.map(({ contact }) => make(contact, bornAt)))));
      isQuick = slow === before;
    }
    return made;
  };
}
