import type { Slot } from '../../../mail/liquid/engine.ts';
import type { AuthoredPart, PartSlots } from '../../../mail/liquid/parts.ts';
import type { Detail } from '../../../platform/errors/failure.ts';
import { fallbacksOf } from '../../../platform/text/language.ts';
import { placeAt } from '../../../platform/text/places.ts';
import { contentIn } from '../languages/translations.ts';
import { BODY_OF, type TemplateFormat, type VariableView } from '../model.ts';
import type { StoredContent, VersionContent } from '../render/content.ts';
import type { Owner, TemplateRow } from '../store.ts';
import type { FoundVersion } from '../versions.ts';
import {
  type Composed,
  Composer,
  type LayerSource,
  LONGEST_COMPOSED,
  type PartialSource,
  type PinnedLayer,
  TooLong,
} from './compose.ts';
import type { TemplateKind } from './layer-model.ts';

/** The sources of a version with all layers in them. */
export interface ComposedContent {
  readonly parts: { readonly [Part in AuthoredPart]: Composed | null };
  readonly layoutId: string | null;
  /** Innermost first; none where the version uses no other template. */
  readonly layers: readonly PinnedLayer[];
  /** The variables that its layouts declare, and it does not. */
  readonly inherited: readonly VariableView[];
  /**
   * The names of those that have no translation into the language of the content, and another language of
   * their own.
   */
  readonly untranslated: readonly string[];
}

/** Finds the published versions of templates. */
export type FindLayer = (owner: Owner, name: string) => Promise<FoundVersion | null>;

/** The template whose version is being made. */
export interface LayeredTemplate {
  readonly owner: Owner;
  /** Null for content that is stored nowhere. */
  readonly id: string | null;
  readonly kind: TemplateKind;
  readonly content: VersionContent;
  readonly slots: PartSlots;
}

/** The most layers on the way from a template to its innermost partial or outermost layout. */
export const DEEPEST = 5;
/** The most layers of one template. */
export const MOST_LAYERS = 50;
/** The most places of partials in one part of a source. */
export const MOST_SLOTS = 200;

/**
 * The formats of partials that a body may take, besides its own. A partial in html is what MJML calls the
 * content of mj-text or mj-raw.
 */
const TAKES: Readonly<Record<TemplateFormat, readonly TemplateFormat[]>> = {
  html: ['html'],
  emailmd: ['emailmd'],
  mjml: ['mjml', 'html'],
};

/** The content that a preview of a layout shows in its place. */
const SAMPLE: Readonly<Record<AuthoredPart, string>> = {
  subject: '',
  previewText: '',
  html: '<p>The content of a template is shown here.</p>',
  markdown: 'The content of a template is shown here.',
  mjml: '<mj-raw><p>The content of a template is shown here.</p></mj-raw>',
  text: 'The content of a template is shown here.',
};

const PARTS = Object.keys(SAMPLE) as readonly AuthoredPart[];

interface Layer extends PartialSource {
  readonly row: TemplateRow;
  readonly version: number;
  readonly content: StoredContent;
}

/** One step to a layer, as the author wrote it. */
interface Step {
  readonly layer: Layer;
  readonly part: AuthoredPart | null;
}

/** Ends a search with the reason for the author. */
class LayerProblem extends Error {}

/**
 * Finds the layers of a template and writes them into its sources, or says what is wrong with them. Every
 * layer is in the version that is published at this moment, so one template has a partial in one version
 * wherever it comes from.
 */
export async function composed(
  find: FindLayer,
  template: LayeredTemplate,
): Promise<ComposedContent | Detail> {
  const { content, slots, kind } = template;
  const own: LayerSource = { name: null, sources: content, slots };
  const walk = new Walk(find, template);
  try {
    await walk.descend(own, { format: content.format, layoutId: content.layoutId, path: [] });
    const layouts = walk.layoutsOf(content.layoutId);
    const composer = new Composer(walk.partials);
    const parts = Object.fromEntries(
      PARTS.map((part) => [part, composedPart(composer, part, { own, kind, layouts })]),
    ) as ComposedContent['parts'];
    const declared = new Set(content.variables.map(({ key }) => key));
    return {
      parts,
      layoutId: layouts[0]?.row.id ?? null,
      layers: walk.all.map(({ row, version }) => ({ templateId: row.id, kind: row.kind, version })),
      inherited: layouts
        .flatMap(({ variables }) => variables)
        .filter(({ key }) => !declared.has(key) && declared.add(key)),
      untranslated: walk.all.flatMap(({ name, content: { language } }) =>
        isTranslation(language, content.language) ? [] : [name ?? ''],
      ),
    };
  } catch (error) {
    if (error instanceof TooLong)
      return {
        path: walk.pointer,
        message: `Must make at most ${LONGEST_COMPOSED.toLocaleString('en')} characters with its layouts and partials.`,
      };
    if (error instanceof LayerProblem) return { path: walk.pointer, message: error.message };
    throw error;
  }
}

function composedPart(
  composer: Composer,
  part: AuthoredPart,
  {
    own,
    kind,
    layouts,
  }: Pick<LayeredTemplate, 'kind'> & { readonly own: LayerSource; readonly layouts: readonly Layer[] },
): Composed | null {
  const sample = kind === 'layout' ? { text: SAMPLE[part], stretches: [] } : null;
  let inner = composer.compose(own, part, sample);
  if (part === 'subject' || part === 'previewText') return inner;
  for (const layout of layouts) inner = inner && composer.compose(layout, part, inner);
  return inner;
}

/** The source in which layers are searched, with the way to it. */
interface Surroundings {
  readonly format: TemplateFormat;
  readonly layoutId: string | null;
  readonly path: readonly Step[];
}

/** Finds all layers of one template. */
class Walk {
  readonly partials = new Map<string, Layer>();
  /** Those that are used, each once, innermost first. */
  readonly all: Layer[] = [];
  /** The pointer of the member that a problem is in. */
  pointer = '/body';
  readonly #byName = new Map<string, Layer | null>();
  readonly #byId = new Map<string, Layer>();
  /** The longest way down from a layer, which is known once all beneath it was seen. */
  readonly #below = new Map<Layer, readonly string[]>();

  constructor(
    private readonly find: FindLayer,
    private readonly template: LayeredTemplate,
  ) {}

  layoutsOf(layoutId: string | null): readonly Layer[] {
    const layouts: Layer[] = [];
    for (let id = layoutId; id !== null; ) {
      const layout = this.#byName.get(id);
      if (!layout) break;
      layouts.push(layout);
      id = layout.content.layoutId;
    }
    return layouts;
  }

  /** Looks at every layer of a source; answers the longest way down. @throws LayerProblem */
  async descend(source: LayerSource, { format, layoutId, path }: Surroundings): Promise<readonly string[]> {
    const isOwn = path.length === 0;
    let longest: readonly string[] = [];
    const follow = async (layer: Layer, step: Step): Promise<void> => {
      const names = [layer.name ?? '', ...(await this.#beneath(layer, [...path, step]))];
      if (names.length > longest.length) longest = names;
      if (path.length + names.length > DEEPEST)
        throw new LayerProblem(
          `Must have at most ${DEEPEST} layers on one way; this one is ${wayOf([...path.map(({ layer: { name } }) => name ?? ''), ...names])}.`,
        );
    };
    for (const part of PARTS) {
      const slots = source.slots[part] ?? [];
      if (slots.length > MOST_SLOTS)
        throw new LayerProblem(`Must use render at most ${MOST_SLOTS} times in one part.`);
      for (const slot of slots) {
        if (slot.partial === null) continue;
        if (isOwn) this.pointer = `/body/${part}`;
        const at = placeIn(source, part, slot, path);
        const layer = await this.#layer(slot.partial, 'partial', at);
        this.#fits(layer, { part, format, slot, at });
        this.partials.set(slot.partial, layer);
        await follow(layer, { layer, part });
      }
    }
    if (layoutId !== null) {
      if (isOwn) this.pointer = '/body/layoutId';
      const at = path.length === 0 ? '' : `${wayOf(path.map(({ layer: { name } }) => name ?? ''))}: `;
      const layout = await this.#layer(layoutId, 'layout', at);
      this.#wraps(layout, source, format, at);
      await follow(layout, { layer: layout, part: null });
    }
    return longest;
  }

  async #beneath(layer: Layer, path: readonly Step[]): Promise<readonly string[]> {
    const known = this.#below.get(layer);
    if (known) return known;
    const again = path.slice(0, -1).some((step) => step.layer === layer);
    if (again || layer.row.id === this.template.id)
      throw new LayerProblem(
        `Must not have layers that use each other: ${wayOf(['this template', ...path.map(({ layer: { name } }) => name ?? '')])}.`,
      );
    const { format, layoutId } = layer.content;
    const below = await this.descend(layer, { format, layoutId, path });
    this.#below.set(layer, below);
    this.all.push(layer);
    return below;
  }

  async #layer(name: string, kind: TemplateKind, at: string): Promise<Layer> {
    const known = this.#byName.get(name);
    const layer = known === undefined ? await this.#read(name) : known;
    this.#byName.set(name, layer);
    if (!layer)
      throw new LayerProblem(
        kind === 'layout'
          ? `${at}There is no layout ${name}. Create it with the kind layout, or name another one.`
          : `${at}There is no partial ${name}. Create it with the kind partial, or name another one.`,
      );
    if (layer.row.kind !== kind)
      throw new LayerProblem(
        kind === 'layout'
          ? `${at}${name} is a ${layer.row.kind}. Name a template of the kind layout.`
          : `${at}${name} is a ${layer.row.kind}, and render takes a partial. ${layer.row.kind === 'layout' ? 'Name a layout in layoutId.' : 'Name a template of the kind partial.'}`,
      );
    return layer;
  }

  async #read(name: string): Promise<Layer | null> {
    const found = await this.find(this.template.owner, name);
    if (!found) return null;
    const { row, version } = found;
    const content = contentIn(found.content, this.template.content.language);
    const known = this.#byId.get(row.id);
    if (known) return known;
    if (this.#byId.size >= MOST_LAYERS)
      throw new LayerProblem(`Must use at most ${MOST_LAYERS} layouts and partials, all together.`);
    const layer: Layer = {
      name: row.alias ?? row.id,
      row,
      version,
      content,
      sources: content,
      slots: content.slots,
      variables: content.variables,
      partFor: (part) => (isBody(part) ? BODY_OF[content.format] : 'text'),
    };
    this.#byId.set(row.id, layer);
    return layer;
  }

  /** Refuses a partial that has nothing for the part that takes it, or misses a parameter. */
  #fits(
    { row, content, sources }: Layer,
    place: {
      readonly part: AuthoredPart;
      readonly format: TemplateFormat;
      readonly slot: Slot;
      readonly at: string;
    },
  ): void {
    const { part, format, slot, at } = place;
    if (isBody(part) && !TAKES[format].includes(content.format))
      throw new LayerProblem(
        `${at}${slot.partial} has the format ${content.format}, which the ${format} of ${part} does not take. Write it in the format ${TAKES[format].join(' or ')}.`,
      );
    const needed = isBody(part) ? BODY_OF[content.format] : 'text';
    if (sources[needed] === null)
      throw new LayerProblem(
        `${at}${slot.partial} has no ${needed}, which the ${part} takes of it. Give it one.`,
      );
    const links = LINKS.filter((name) => content.names.includes(name) && !slot.parameters.includes(name));
    if (links.length > 0)
      throw new LayerProblem(
        `${at}${row.alias ?? row.id} shows ${links.join(' and ')}, which a partial sees only as a parameter: write {% render '${slot.partial}', ${links.map((name) => `${name}: ${name}`).join(', ')} %}.`,
      );
    const lacks = content.variables.filter(({ key, required }) => required && !slot.parameters.includes(key));
    if (lacks.length > 0)
      throw new LayerProblem(
        `${at}${row.alias ?? row.id} requires ${lacks.map(({ key }) => key).join(', ')}: write {% render '${slot.partial}', ${lacks[0]?.key}: … %}.`,
      );
  }

  /** Refuses a layout that would leave out a part of what it is around. */
  #wraps({ row, content, sources }: Layer, inner: LayerSource, format: TemplateFormat, at: string): void {
    const name = row.alias ?? row.id;
    if (content.format !== format)
      throw new LayerProblem(
        `${at}The layout ${name} has the format ${content.format}, and this template ${format}. Choose a layout of the same format.`,
      );
    for (const part of [BODY_OF[format], 'text'] as const)
      if (inner.sources[part] !== null && sources[part] === null)
        throw new LayerProblem(
          `${at}The layout ${name} has no ${part}, so that the ${part} would be sent without it. Give the layout a ${part} with {{ content }}${part === 'text' ? ', or leave text out here: it is made from the html' : ''}.`,
        );
  }
}

/**
 * True where a layer suits the language of a content: it has that one, one that contains it, or names none.
 */
const isTranslation = (language: string | null, wanted: string | null): boolean =>
  language === null || wanted === null || [...fallbacksOf(wanted)].includes(language);

/** The ways out of mail. A partial that is not given them would show an empty link. */
const LINKS = ['unsubscribeUrl', 'preferencesUrl'];

const isBody = (part: AuthoredPart): boolean => part === 'html' || part === 'markdown' || part === 'mjml';
const wayOf = (names: readonly string[]): string => names.join(' → ');

/** The place of a partial, with the way to it: `base → footer, line 3, column 2: `. */
function placeIn(source: LayerSource, part: AuthoredPart, { begin }: Slot, path: readonly Step[]): string {
  const { line, column } = placeAt(source.sources[part] ?? '', begin);
  if (path.length === 0) return `Line ${line}, column ${column}: `;
  return `${wayOf(path.map(({ layer: { name } }) => name ?? ''))}, line ${line}, column ${column}: `;
}
