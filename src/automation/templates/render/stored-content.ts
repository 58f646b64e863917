import type { MjmlNote } from '../../../mail/content/render-mjml.ts';
import type { AuthoredPart, PartSlots, Sources } from '../../../mail/liquid/parts.ts';
import type { PinnedLayer, Stretch } from '../layers/compose.ts';
import type { TemplateView, VariableView } from '../model.ts';

/** One version of a template, as its author writes it. */
export type VersionContent = Pick<
  TemplateView,
  | 'format'
  | 'subject'
  | 'previewText'
  | 'html'
  | 'markdown'
  | 'mjml'
  | 'text'
  | 'from'
  | 'replyTo'
  | 'variables'
  | 'layoutId'
  | 'language'
  | 'translations'
>;

/** The result of writing layouts and partials into a version. */
export interface LayeredContent {
  readonly layers: readonly PinnedLayer[];
  /** The variables that its layouts declare, and it does not. */
  readonly inherited: readonly VariableView[];
  /** The stretches of the sources, by which a problem is found in its layer. */
  readonly stretches: { readonly [Part in AuthoredPart]?: readonly Stretch[] };
  /** The markdown or MJML with its layers, which is rendered again for another subject; null in html. */
  readonly body: string | null;
}

/** A version as it is stored: what was written, and what was found out about it when it was saved. */
export interface StoredContent extends VersionContent {
  /** The rendered parts, including html that was made from Markdown. */
  readonly sources: Sources;
  /** Paths of the names that it uses, such as `order.total`. */
  readonly names: readonly string[];
  /** Parts with a value that is written as it is. */
  readonly raw: readonly string[];
  /** The places that other templates fill. */
  readonly slots: PartSlots;
  /** Null where it uses no other template. */
  readonly layered: LayeredContent | null;
  /** Notes of MJML on what it left out or read in another way. */
  readonly notes: readonly MjmlNote[];
  /**
   * The layouts and partials that have no translation into its language, and were taken in their own. The own
   * content of earlier versions lacks it.
   */
  readonly untranslated?: readonly string[];
  /** Of each translation, by its language. */
  readonly translated: Readonly<Record<string, MadeTranslation>>;
}

/** The members of a version that differ by language, as they are made of a translation. */
export type MadeTranslation = Pick<
  StoredContent,
  'sources' | 'names' | 'raw' | 'slots' | 'layered' | 'notes' | 'untranslated'
>;
