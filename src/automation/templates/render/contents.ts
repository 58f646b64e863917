import type { Failure } from '../../../platform/errors/failure.ts';
import { Problems } from '../../../platform/text/problems.ts';
import { findVersion, type TemplateReader } from '../queries.ts';
import type { Owner } from '../store.ts';
import type { FoundVersion } from '../versions.ts';
import { type Compilers, compile } from './compile.ts';
import { type GivenContent, NOTHING, readContent, type StoredContent } from './content.ts';
import type { RenderTemplate } from './rendering.ts';

/**
 * The source of emails of other modules: the content of a template, or their own content in the same form.
 */
export interface TemplateContents {
  /** Makes content ready to be rendered, or says everything that is wrong with it. @throws UnavailableError */
  compile(workspaceId: string, given: GivenContent, now: number): Promise<StoredContent | Failure>;
  /** The current version of a template, by id or alias. @throws UnavailableError */
  find(owner: Owner, name: string): Promise<FoundVersion | Failure>;
  readonly render: RenderTemplate;
}

/** Offers the contents of templates to others. */
export const templateContents = (
  deps: Compilers & Pick<TemplateReader, 'versions'>,
  render: RenderTemplate,
): TemplateContents => ({
  async compile(workspaceId, given, now) {
    const problems = new Problems();
    const authored = readContent(given, NOTHING, problems.report);
    return problems.failure() ?? compile(deps, workspaceId, authored, now);
  },
  find: (owner, name) => findVersion(deps, owner, name),
  render,
});
