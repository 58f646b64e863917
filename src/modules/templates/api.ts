import type { TemplateContents } from './contents.ts';
import type { FillTemplate } from './fill.ts';

/** The functions that templates give to other modules. */
export interface TemplatesApi {
  readonly fillTemplate: FillTemplate;
  readonly templateContents: TemplateContents;
}
