import { type Brand, findBrand } from '../../../accounts/workspace/queries.ts';
import { LiquidProblem, TooSlow } from '../../../mail/liquid/limits.ts';
import type { LiquidRenderer } from '../../../mail/liquid/liquid-renderer.ts';
import type { RenderedParts } from '../../../mail/liquid/parts.ts';
import { BatchedRead } from '../../../platform/async/batched-read.ts';
import type { Database } from '../../../platform/db/database.ts';
import { Failure, invalidAt } from '../../../platform/errors/failure.ts';
import { Problems } from '../../../platform/text/problems.ts';
import { placed } from '../layers/compose.ts';
import { bodyOf } from './compile.ts';
import type { StoredContent } from './content.ts';
import { readValues } from './variables.ts';

/** The context of an email, besides the values of its request. Null and absent where there is none. */
export interface Circumstances {
  readonly contact?: Readonly<Record<string, unknown>> | null;
  readonly campaign?: { readonly name: string } | null;
  readonly event?: Readonly<Record<string, unknown>> | null;
  /** The page on which the recipient chooses what to get. */
  readonly preferencesUrl?: string;
}

/** One rendering. */
export interface TemplateRenderRequest {
  readonly workspaceId: string;
  /** By what the version is known to the threads; null for content that is stored nowhere. */
  readonly key: string | null;
  readonly content: StoredContent;
  readonly values: Readonly<Record<string, unknown>>;
  readonly circumstances?: Circumstances | undefined;
  /** The moment of the rendering, in epoch milliseconds. */
  readonly now: number;
  /** The JSON pointer of the request. */
  readonly at: string;
  /**
   * `preview`: values may lack, and what takes too long is refused. `send`: a busy machine is not the
   * author's fault, so what takes too long is tried again, and then the service is not available.
   */
  readonly purpose: 'preview' | 'send';
}

/** Rendered parts, with all names that they were rendered from. */
export interface RenderedTemplate {
  readonly parts: RenderedParts;
  readonly names: Readonly<Record<string, unknown>>;
}

/** The one way from a template to an email: previews, sends and campaigns all come along here. */
export type RenderTemplate = (asked: TemplateRenderRequest) => Promise<RenderedTemplate | Failure>;

const BUSY = new Failure('SERVICE_UNAVAILABLE', 'The template takes too long to render at the moment.', {
  retryAfterSeconds: 1,
  suggestion:
    'Send it again in a moment. If it stays so, make the template simpler: a preview shows whether it is the template.',
});

/** Renders templates with the brand of their workspace. */
export function templateRenderer(
  database: Database,
  liquid: LiquidRenderer,
  publicUrl: string,
): RenderTemplate {
  const brands = new BatchedRead<string, Brand | null>('brands', async (asked) => {
    const ids = [...new Set(asked)];
    const found = await Promise.all(ids.map((id) => findBrand(database, id, publicUrl)));
    const byId = new Map(ids.map((id, index) => [id, found[index] ?? null]));
    return (id) => byId.get(id) ?? null;
  });

  return async ({ workspaceId, key, content, values, circumstances, now, at, purpose }) => {
    const problems = new Problems();
    const valuesAt = `${at}/variables`;
    const read = readValues(
      content.layered ? [...content.variables, ...content.layered.inherited] : content.variables,
      values,
      { at: valuesAt, mayLack: purpose === 'preview' },
      problems.report,
    );
    const refused = problems.failure();
    if (refused) return refused;
    const asksWorkspace = content.names.some((name) => /^workspace\b/.test(name));
    const workspace = asksWorkspace ? await brands.ask(workspaceId) : null;
    const names =
      circumstances || workspace ? { ...read, ...circumstances, ...(workspace && { workspace }) } : read;
    const rendering = { owner: workspaceId, key, sources: content.sources, scope: { names, now } };
    let parts = await liquid.render(rendering);
    if (purpose === 'send' && parts instanceof TooSlow) {
      parts = await liquid.render(rendering);
      if (parts instanceof TooSlow) return BUSY;
    }
    if (!(parts instanceof LiquidProblem)) return { parts, names };
    const message = placedIn(content, parts);
    return purpose === 'preview'
      ? invalidAt(`${at}/${parts.part ?? bodyOf(content)}`, message)
      : invalidAt(
          Object.keys(values).length > 0 ? valuesAt : `${at}/templateId`,
          `The template cannot be rendered. ${message}`,
        );
  };
}

/** The message of a problem, with its place in the layer where it is. */
function placedIn({ sources, layered, format }: StoredContent, { message, part }: LiquidProblem): string {
  const source = part && sources[part];
  // The html of the other formats has lines that no author wrote.
  if (!layered || !source || (part === 'html' && format !== 'html')) return message;
  return placed(message, { text: source, stretches: layered.stretches[part] ?? [] });
}
