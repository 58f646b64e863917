import { Failure } from '../../../platform/errors/failure.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import { problemOfLength } from '../../../sending/emails/queries.ts';
import type { TemplateContents } from '../../templates/commands.ts';
import type { Turn } from '../deps.ts';
import { contentFor, type KeptContent, languagesOf } from '../preview/content.ts';
import { renderKept } from './render.ts';

/**
 * Renderings that may take too long in one turn: the same source would take as long for every other
 * recipient.
 */
const MOST_SLOW = 10;
/** Rendered together: between them the time is looked at. */
const AT_ONCE = 8;
/**
 * The time to render a chunk: half a turn, so that a source that is slow but not too slow keeps no turn
 * beyond its lease.
 */
export const RENDER_MS = 2_000;
const LIQUID = /\{[{%]/;
/** The link by which a recipient chooses is in no row that others read. */
const SECRET = /\bpreferencesUrl\b/;

/**
 * Tells whether the subjects of a campaign differ by recipient, and whether they may be read by others as
 * they leave.
 */
export function kindOfSubject(kept: Pick<KeptContent, 'content'>): 'common' | 'own' | 'secret' {
  const known = kinds.get(kept.content);
  if (known) return known;
  const subjects = new Set(languagesOf(kept).map(({ sources }) => sources.subject ?? ''));
  const written = [...subjects].join('\n');
  const isCommon = subjects.size === 1 && !LIQUID.test(written);
  const kind = isCommon ? 'common' : LIQUID.test(written) && SECRET.test(written) ? 'secret' : 'own';
  kinds.set(kept.content, kind);
  return kind;
}

/** It is asked for each email, and there may be fifty languages. */
const kinds = new WeakMap<KeptContent['content'], 'common' | 'own' | 'secret'>();

/**
 * The subjects of recipients, in their order; null for one that is found when the email leaves, or why it
 * cannot. @throws UnavailableError
 */
export type MakeSubjects = (
  recipients: readonly { readonly contact: Readonly<Record<string, unknown>> }[],
  createdAt: number,
) => Promise<readonly (string | null)[]>;

/**
 * Makes the subjects of a campaign's emails at acceptance, so that lists, filters and waiting requests know
 * each as it leaves. Makes none where all have the campaign's own subject; those for which a chunk, or the
 * turn, has no time are rendered when they leave.
 */
export function subjectsOf(
  { contents, clock }: { readonly contents: TemplateContents; readonly clock: Pick<Clock, 'monotonic'> },
  { workspaceId, campaignId, isOver }: Pick<Turn, 'workspaceId' | 'campaignId' | 'isOver'>,
  kept: KeptContent,
): MakeSubjects {
  if (kindOfSubject(kept) !== 'own') return async () => [];
  let slow = 0;
  const make = async (
    contact: Readonly<Record<string, unknown>>,
    createdAt: number,
  ): Promise<string | null> => {
    const { subject: source } = contentFor(kept, contact).sources;
    // Most languages have one subject for all: no thread has to write it.
    if (source !== null && !LIQUID.test(source))
      return problemOfLength(source) === null ? source.trim() : null;
    if (slow >= MOST_SLOW) return null;
    const rendered = await renderKept(
      contents,
      { workspaceId, campaignId, createdAt, contact },
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
  return async (recipients, createdAt) => {
    const made: (string | null)[] = [];
    const until = clock.monotonic() + RENDER_MS;
    while (made.length < recipients.length && clock.monotonic() < until && !isOver()) {
      const next = recipients.slice(made.length, made.length + AT_ONCE);
      made.push(...(await Promise.all(next.map(({ contact }) => make(contact, createdAt)))));
    }
    return [...made, ...recipients.slice(made.length).map(() => null)];
  };
}
