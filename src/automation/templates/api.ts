import type { TemplateContents } from './render/contents.ts';
import type { FillTemplate } from './render/fill.ts';

/** The functions that templates give to other modules. */
export interface TemplatesApi {
  readonly fillTemplate: FillTemplate;
  readonly templateContents: TemplateContents;
}
