import type { Call } from '../../../http/request/route.ts';
import { CLIPPED, type FoundProblem } from '../../../mail/check/codes.ts';
import type { LookedAt } from '../../../mail/check/look.ts';
import { placesOf } from '../../../mail/liquid/places.ts';
import type { Failure } from '../../../platform/errors/failure.ts';
import { Failure as Refusal } from '../../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../../platform/text/address.ts';
import { placeAt } from '../../../platform/text/places.ts';
import {
  answerOf,
  type ChecksApi,
  type MessageCheck,
  type PlacedProblem,
} from '../../../sending/checks/api.ts';
import { trialMessage } from '../../../sending/checks/commands.ts';
import { languageNotes } from '../languages/language-notes.ts';
import { askedLanguage, chosenLanguage, contentIn } from '../languages/translations.ts';
import { BODY_OF, type CheckQuery } from '../model.ts';
import { findVersion, type TemplateReader } from '../queries.ts';
import type { TemplateRow } from '../store.ts';
import { type StoredContent, sampleValues } from './content.ts';
import { isForLists, isOfLists, missingIn, undefaulted } from './lacking.ts';
import type { RenderTemplate } from './rendering.ts';

/** The services that a check calls. */
export interface TemplateChecker extends TemplateReader, Pick<ChecksApi, 'check'> {
  readonly render: RenderTemplate;
}

/**
 * Finds what is wrong with a version of a template, by default the published one, in one of its languages.
 */
export async function checkTemplate(
  checker: TemplateChecker,
  { caller, params, query, now }: Call<{ readonly id: string }, CheckQuery>,
): Promise<MessageCheck | Failure> {
  const asked = askedLanguage(query.language, '/query/language');
  if (asked instanceof Refusal) return asked;
  const found = await findVersion(checker, caller, params.id, query.version);
  if (found instanceof Refusal) return found;
  const { row } = found;
  const translation = chosenLanguage(found.content, asked);
  const content = contentIn(found.content, translation);
  const own = bodyPath(content, translation);
  const { workspaceId } = caller;
  const values = sampleValues([...content.variables, ...(content.layered?.inherited ?? [])]);
  const rendered = await checker.render({
    workspaceId,
    key: null,
    content,
    values,
    now,
    purpose: 'preview',
    at: translation === null ? '/body' : `/body/translations/${translation}`,
  });
  if (rendered instanceof Refusal) return answerOf(notRendered(rendered, own));
  const { subject, html, text } = rendered.parts;
  const from = parseAddress(content.from ?? caller.senderDefaults.from ?? '');
  const sender = isProblem(from) ? 'sender@example.com' : from.address;
  const problems = await checker.check({
    workspaceId,
    clippedAt: CLIPPED,
    looked: {
      html,
      text,
      source: sourceOf(content),
      as: isForLists(content) ? 'list' : 'single',
      exit: null,
    },
    raw: () => trialMessage({ subject, html, text, from: sender, now }),
  });
  const more = [
    ...problems,
    ...emptyPlaceholders(content, rendered.names),
    ...subjectProblem(content, row),
    ...languageNotes(found.content, { asked, translation, content }).map((note) => ({ ...note, at: null })),
  ];
  const pathOf = async (layer: string): Promise<string | null> => {
    const used = await checker.versions.find(caller, layer);
    // Those of all languages, as GET answers them.
    const pinned = found.content.layered?.layers ?? [];
    const index = pinned.findIndex(({ templateId }) => templateId === used?.id);
    const there = used && index !== -1 ? await checker.versions.read(used, pinned[index]?.version) : null;
    if (!there) return null;
    // The own content takes a layer in its language too.
    return `/layers/${index}${bodyPath(there.content, chosenLanguage(there.content, content.language))}`;
  };
  // MJML gives lines alone, when the version is saved.
  const notes = content.notes.map(
    ({ message, line }): PlacedProblem => ({ code: 'mjml', message, line, path: own }),
  );
  return answerOf([...(await placedIn(content, more, own, pathOf)), ...notes]);
}

/** The source of a version, with its layers in it: problems name its lines. */
export function sourceOf(content: StoredContent): LookedAt['source'] {
  const { format, sources, layered } = content;
  if (format === 'html') return sources.html === null ? null : { text: sources.html, format };
  return { text: layered?.body ?? content[BODY_OF[format]] ?? '', format };
}

/** The JSON pointer of the source of a content, of a translation where one is chosen. */
export const bodyPath = ({ format }: StoredContent, translation: string | null = null): string =>
  `${translation === null ? '' : `/translations/${translation}`}/${BODY_OF[format]}`;

const AT_LINE = /^Line (\d+)\b/;

/** The refusal of a rendering as problems. */
export const notRendered = ({ message, extra }: Failure, path: string): PlacedProblem[] =>
  (extra.details ?? [{ path, message }]).map((detail): PlacedProblem => {
    const line = AT_LINE.exec(detail.message)?.[1];
    return {
      code: 'not_rendered',
      message: detail.message,
      line: line === undefined ? null : Number(line),
      path: detail.path.replace(/^\/body(?=\/)/, ''),
    };
  });

function subjectProblem({ subject }: StoredContent, { kind }: TemplateRow): FoundProblem[] {
  if (subject !== null || kind !== 'template') return [];
  const message = 'It has no subject: write one, or give one with each request.';
  return [{ code: 'no_subject', message, at: null }];
}

const MOST_NAMES = 20;

function emptyPlaceholders(content: StoredContent, names: Readonly<Record<string, unknown>>): FoundProblem[] {
  const optional = content.variables
    .filter(({ key, required, fallback }) => !required && fallback === null && content.names.includes(key))
    .map(({ key }) => key);
  const lacking = [...new Set([...missingIn(content, names), ...undefaulted(content, optional)])];
  // A check of a campaign counts those of contacts.
  const told = lacking.filter((name) => !isOfLists(name)).slice(0, MOST_NAMES);
  const places = placesOf(sourceOf(content)?.text ?? '', told);
  return told.map((name): FoundProblem => {
    return {
      code: 'empty_placeholder',
      message: `{{ ${name} }} stays empty where a request does not give it. Make the variable required, give it a fallback, or write {{ ${name} | default: "…" }}.`,
      at: places.get(name) ?? null,
    };
  });
}

/**
 * Problems with the place where their author finds them: in the template itself, or in the layer that they
 * are of.
 */
export async function placedIn(
  content: StoredContent,
  problems: readonly FoundProblem[],
  /** The JSON pointer of its source. */
  own: string,
  /** That of the source of a layer, by its name; null where none can be told, and then no line is. */
  pathOf: (layer: string) => Promise<string | null>,
): Promise<PlacedProblem[]> {
  const text = sourceOf(content)?.text ?? '';
  const stretches = content.layered?.stretches[BODY_OF[content.format]] ?? [];
  const paths = new Map<string, string | null>();
  const pathIn = async (layer: string): Promise<string | null> => {
    const known = paths.get(layer);
    if (known !== undefined) return known;
    const path = await pathOf(layer);
    paths.set(layer, path);
    return path;
  };
  const placed: PlacedProblem[] = [];
  for (const { code, message, at } of problems) {
    if (at === null) placed.push({ code, message, line: null, path: null });
    else {
      const stretch = stretches.findLast((each) => each.at <= at);
      const here = placeAt(text, at).line;
      const passed = stretch ? here - placeAt(text, stretch.at).line : 0;
      const layer = stretch?.layer ?? null;
      const path = layer === null ? own : await pathIn(layer);
      placed.push({
        code,
        message: layer === null ? message : `In ${layer}: ${message}`,
        line: path === null ? null : stretch ? stretch.line + passed : here,
        path: path ?? own,
      });
    }
  }
  return placed;
}
