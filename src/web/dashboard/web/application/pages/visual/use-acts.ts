import { colourOr, USUAL_COLOUR } from '../../../../../../mail/message/ink.ts';
import { type FontName, stackOf } from '../../../../../../platform/text/fonts.ts';
import type { DesignSession } from './history.ts';
import { kindName } from './names.ts';
import { attributesOf } from './source/attributes.ts';
import { defaultsOf, ROWS } from './source/blocks.ts';
import {
  choicesOf,
  duplicateBlock,
  insertMarkup,
  isWhole,
  moveBy,
  moveTo,
  parentsOf,
  removeBlock,
  setAttribute,
  setContent,
  unitOf,
} from './source/edit.ts';
import {
  type Brand,
  COLUMN_BLOCKS,
  type ColumnBlock,
  columnMarkup,
  imageMarkup,
  type Picture,
  ROW_BLOCKS,
  type RowBlock,
  rowMarkup,
  type SectionLook,
  sectionMarkup,
} from './source/new-blocks.ts';
import {
  elementsOf,
  findElement,
  isShown,
  lastShown,
  type Place,
  placeOf,
  sourceBefore,
} from './source/place.ts';
import { contentOf, isElement, readTree, type SourceTree, writeTree } from './source/tree.ts';

/** The usual width of a message, 600 pixels, without the padding of an image. */
const CONTENT_WIDTH = 550;

/** The acts of a person on a design, each with the words that screen readers read. */
export function useActs(given: {
  readonly session: DesignSession;
  /** The colour of the workspace. */
  readonly colour: string | null;
  /** Its font; null without one. */
  readonly font: FontName | null;
  readonly lists: readonly string[];
  readonly say: (words: string) => void;
  readonly focusBlock: (id: number | null) => void;
  readonly pickImage: (of: 'new' | 'other') => void;
  readonly openCode: (line: number | null) => void;
  /** HTML that is not whole yet, by the number of its element. */
  readonly unfinished: Map<number, string>;
}) {
  const { session, say, focusBlock } = given;
  const { design, tree, chosen } = session;
  const hasFont = [...defaultsOf(tree).values()].some((attributes) => 'font-family' in attributes);
  const brand: Brand = {
    colour: colourOr(given.colour, USUAL_COLOUR),
    font: hasFont ? null : stackOf(given.font),
  };
  const choices = choicesOf(design);
  const bodyId = design.body?.id ?? null;
  const rowIds = design.rows.map(({ id }) => id);
  const nameOf = (id: number | null): string => {
    const found = choices.find((choice) => choice.id === id);
    return found?.block ? kindName(found.block) : 'Section';
  };
  /** The element of the body that holds an element. */
  const rowOf = (id: number | null): number | null => {
    if (id === null) return null;
    return rowIds.includes(id)
      ? id
      : (parentsOf(tree, id).find((parent) => rowIds.includes(parent.id))?.id ?? null);
  };
  /** The look of the section at an element; without one that of the last section. */
  const lookAt = (id: number | null): SectionLook => {
    const sections = design.rows.filter(({ kind }) => kind === 'section');
    const near = sections.find((row) => row.id === rowOf(id)) ?? sections.at(-1);
    const element = near && findElement(tree, near.id);
    if (!element) return { 'background-color': '#ffffff' };
    const { 'background-color': background, 'css-class': css } = attributesOf(element.open);
    return { 'background-color': background, 'css-class': css };
  };
  const siblings = design.body?.children ?? tree;
  const end = {
    parent: bodyId,
    index: elementsOf(siblings).length,
    after: lastShown(siblings)?.id,
    isInColumn: false,
  };
  /**
   * The place after what is chosen: in its column, or after its row; without a choice the end of the message.
   */
  const placeAfter = (isRow: boolean) => {
    // After a loop and all that it repeats.
    const unit = chosen === null ? [] : unitOf(tree, chosen);
    const own = chosen === null ? null : placeOf(tree, unit.at(-1)?.id ?? chosen);
    const isInColumn = own !== null && findElement(tree, own.parent)?.name === 'mj-column';
    if (!isRow && own && isInColumn) return { ...own, index: own.index + 1, isInColumn };
    const section = chosen === null ? null : findElement(tree, chosen);
    const columns = elementsOf(section?.children ?? []).filter(({ name }) => name === 'mj-column');
    const column = section?.name === 'mj-section' && columns.length === 1 ? columns[0] : undefined;
    if (!isRow && column)
      return { parent: column.id, index: elementsOf(column.children).length, isInColumn: true };
    const rowId = rowOf(unit.at(-1)?.id ?? chosen);
    const index = elementsOf(siblings.slice(0, siblings.findIndex(({ id }) => id === rowId) + 1)).length;
    return rowId === null ? end : { parent: bodyId, index, after: rowId, isInColumn: false };
  };
  const insert = (markup: string, isRow: boolean, name: string, after = placeAfter(isRow)) => {
    const { isInColumn, ...place } = after;
    const added = insertMarkup(
      tree,
      place,
      isRow || isInColumn ? markup : sectionMarkup([[markup]], lookAt(chosen)),
    );
    const element = added.id === null ? null : findElement(added.tree, added.id);
    const inner =
      !isRow && !isInColumn && element
        ? elementsOf(elementsOf(element.children)[0]?.children ?? [])[0]?.id
        : added.id;
    session.edit(added.tree, { chosen: inner ?? null });
    say(`${name} added`);
    focusBlock(inner ?? null);
    return inner ?? null;
  };
  const change = (next: SourceTree, together: string) => session.edit(next, { together });
  return {
    choose: session.choose,
    isRow: (id: number) => rowIds.includes(id),
    moveTo: (id: number, place: Place) => {
      session.edit(moveTo(tree, id, place), { chosen: id });
      say(`${nameOf(id)} moved`);
      focusBlock(id);
    },
    add: (kind: ColumnBlock | RowBlock) => {
      if (kind === 'image') given.pickImage('new');
      else if (kind in ROW_BLOCKS)
        insert(
          rowMarkup(kind as RowBlock, lookAt(chosen), given.lists[0] ?? 'items', brand),
          true,
          ROW_BLOCKS[kind as RowBlock],
        );
      else {
        const column = kind as Exclude<ColumnBlock, 'image'>;
        // A footer is a section at the end, whatever is chosen.
        insert(
          columnMarkup(column, brand),
          false,
          COLUMN_BLOCKS[column],
          column === 'footer' ? end : placeAfter(false),
        );
      }
    },
    /** Adds the elements of a saved block; the answer is what keeps them from being added. */
    addSaved: (source: string, name: string): string | null => {
      const nodes = readTree(source)?.filter(isShown) ?? [];
      if (nodes.length === 0 || !nodes.every(isElement))
        return 'This partial has template tags between its elements. Take it by {% render %} in Code.';
      const rows = nodes.filter((node) => isElement(node) && ROWS.has(node.name));
      if (rows.length > 0 && rows.length < nodes.length)
        return 'This partial mixes sections and blocks. Take it by {% render %} in Code.';
      insert(source.trim(), rows.length > 0, name);
      return null;
    },
    /** The source of the chosen block with all that goes with it. */
    sourceOfChosen: (): string | null =>
      chosen === null ? null : writeTree(unitOf(tree, chosen)).trim() || null,
    /** Adds HTML that is not whole yet: its block waits for the rest. */
    addHtml: (html: string) => {
      const id = insert(columnMarkup('html', brand), false, COLUMN_BLOCKS.html);
      if (id !== null) given.unfinished.set(id, html);
    },
    placeImage: (isNew: boolean, { url, alt, srcset, ...image }: Picture & { readonly alt: string }) => {
      const width = Math.min(image.width, CONTENT_WIDTH);
      if (isNew) return void insert(imageMarkup(url, alt, width, srcset), false, COLUMN_BLOCKS.image);
      if (chosen === null) return;
      const attributes = { src: url, alt, srcset, width: `${width}px` };
      session.edit(
        Object.entries(attributes).reduce(
          (edited, [name, value]) => setAttribute(edited, chosen, name, value),
          tree,
        ),
      );
    },
    move: (step: -1 | 1) => {
      if (chosen === null) return;
      const moved = moveBy(tree, chosen, step);
      session.edit(moved, { chosen });
      say(
        moved === tree
          ? `${nameOf(chosen)} is at the ${step === -1 ? 'beginning' : 'end'}`
          : `${nameOf(chosen)} moved ${step === -1 ? 'up' : 'down'}`,
      );
      focusBlock(chosen);
    },
    duplicate: () => {
      if (chosen === null) return;
      const copy = duplicateBlock(tree, chosen);
      session.edit(copy.tree, { chosen: copy.id });
      say(`${nameOf(chosen)} duplicated`);
      focusBlock(copy.id);
    },
    remove: () => {
      if (chosen === null) return;
      const gone = removeBlock(tree, chosen);
      if (gone === tree) return;
      const at = choices.findIndex(({ id }) => id === chosen);
      const isLeft = ({ id }: { readonly id: number }) => findElement(gone, id) !== null;
      const next = choices.slice(at + 1).find(isLeft) ?? choices.slice(0, at).findLast(isLeft) ?? null;
      session.edit(gone, { chosen: next?.id ?? null });
      say(`${nameOf(chosen)} deleted. Undo: Ctrl Z.`);
      focusBlock(next?.id ?? null);
    },
    attribute: (id: number, name: string, value: string | null) =>
      change(setAttribute(tree, id, name, value), `${name} ${id}`),
    content: (id: number, content: string) => change(setContent(tree, id, content), `content ${id}`),
    html: (id: number, content: string): boolean => {
      const next = setContent(tree, id, content);
      if (!isWhole(next)) return false;
      change(next, `content ${id}`);
      return true;
    },
    heading: (level: string) => {
      const element = chosen === null ? null : findElement(tree, chosen);
      if (!element) return;
      const content = contentOf(element)
        .replace(/^(\s*<)h[1-6]/i, `$1${level}`)
        .replace(/h[1-6](\s*>\s*)$/i, `${level}$1`);
      session.edit(setContent(tree, element.id, content));
    },
    addLink: () => {
      const element = chosen === null ? null : findElement(tree, chosen);
      if (!element) return;
      const known = elementsOf(element.children);
      const last = known.at(-1);
      if (last) {
        const copy = duplicateBlock(tree, last.id);
        return session.edit(setContent(copy.tree, copy.id, 'Link'));
      }
      const name = element.name === 'mj-social' ? 'mj-social-element' : 'mj-navbar-link';
      const markup = `<${name} href="https://example.com">Link</${name}>`;
      session.edit(insertMarkup(tree, { parent: element.id, index: 0 }, markup).tree);
    },
    removeLink: (id: number) => session.edit(removeBlock(tree, id)),
    pickImage: () => given.pickImage('other'),
    openCode: () => given.openCode(lineOfBlock(tree, chosen)),
  };
}

/** The line of an element in its source. */
function lineOfBlock(tree: SourceTree, id: number | null): number | null {
  const start = id === null ? null : sourceBefore(tree, id);
  return start === null ? null : start.split('\n').length;
}
