import { Failure } from '../../../platform/errors/failure.ts';
import { Problems } from '../../../platform/text/problems.ts';
import { findVersion, problemOfKind } from '../queries.ts';
import type { Owner } from '../store.ts';
import type { FoundVersion } from '../versions.ts';
import { type Compilers, compile, withLines } from './compile.ts';
import { type GivenContent, NOTHING, readContent, type StoredContent } from './content.ts';
import type { RenderTemplate } from './rendering.ts';

/**
 * The source of emails of other modules: the content of a template, or their own content in the same form.
 */
export interface TemplateContents {
  /**
   * Makes content ready to be rendered, or says everything that is wrong with it. @throws UnavailableError
   */
  compile(owner: Owner, given: GivenContent, now: number): Promise<StoredContent | Failure>;
  /**
   * Compiles a version with another subject and preview text, and the layers that it has. @throws
   * UnavailableError
   */
  withLines(
    owner: Owner,
    stored: StoredContent,
    lines: Pick<StoredContent, 'subject' | 'previewText'>,
    now: number,
  ): Promise<StoredContent | Failure>;
  /** The current version of a template that can be sent, by id or alias. @throws UnavailableError */
  find(owner: Owner, name: string): Promise<FoundVersion | Failure>;
  readonly render: RenderTemplate;
}

/** Offers the contents of templates to others. */
export const templateContents = (deps: Compilers, render: RenderTemplate): TemplateContents => ({
  async compile(owner, given, now) {
    const problems = new Problems();
    const authored = readContent(given, NOTHING, problems.report);
    return problems.failure() ?? compile(deps, authored, { owner, id: null, kind: 'template', now });
  },
  withLines: (owner, stored, lines, now) =>
    withLines(deps, stored, lines, { owner, id: null, kind: 'template', now }),
  async find(owner, name) {
    const found = await findVersion(deps, owner, name);
    return found instanceof Failure ? found : (problemOfKind(found.row, '/body/templateId') ?? found);
  },
  render,
});
