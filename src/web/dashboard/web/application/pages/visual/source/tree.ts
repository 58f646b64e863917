import { Parser } from 'htmlparser2';
import { DEEPEST, MOST_ELEMENTS } from '../../../../../../../mail/content/mjml/look.ts';
import { maskedLiquid } from './liquid.ts';

/** Characters between elements, or the content of an element that MJML takes as it is. */
export interface SourceText {
  readonly id: number;
  readonly text: string;
}

/** An element with the characters of its tags; `close` is empty where it ends itself. */
export interface SourceElement {
  readonly id: number;
  readonly name: string;
  readonly open: string;
  readonly children: readonly SourceNode[];
  readonly close: string;
}

export type SourceNode = SourceText | SourceElement;

/** A whole source. */
export type SourceTree = readonly SourceNode[];

/** Elements whose content MJML takes as it is. */
const LEAVES: ReadonlySet<string> = new Set([
  'mj-text',
  'mj-button',
  'mj-raw',
  'mj-table',
  'mj-social-element',
  'mj-navbar-link',
  'mj-preview',
  'mj-title',
  'mj-style',
  'mj-accordion-title',
  'mj-accordion-text',
]);

let latest = 0;
/** A number that no node has yet. */
export const newId = (): number => ++latest;

export const isElement = (node: SourceNode): node is SourceElement => 'name' in node;
const textNode = (text: string): SourceText => ({ id: newId(), text });

/** Thrown to stop the parser. */
export class Unreadable extends Error {}

/** An element whose end has not come yet. */
interface OpenElement {
  readonly name: string;
  /** The place that the parser gives it. */
  readonly at: number;
  readonly open: string;
  readonly children: SourceNode[];
}

/**
 * The tree of a source, which `writeTree` makes the same source again. It is read by the parser that MJML
 * uses. Null where an element has no end of its name, or where the service refuses its size.
 */
export function readTree(source: string): SourceTree | null {
  const root: SourceNode[] = [];
  const stack: OpenElement[] = [];
  let [from, count, depth, leafDepth] = [0, 0, 0, 0];
  const masked = maskedLiquid(source);
  const siblings = () => stack.at(-1)?.children ?? root;
  const take = (to: number) => {
    if (to > from) siblings().push(textNode(source.slice(from, to)));
    from = Math.max(from, to);
  };
  // After an end with white space in it (`</b >`) the parser begins the next tag within it.
  const begin = () => Math.max(parser.startIndex, from);
  const parser = new Parser(
    {
      onopentag(name, _, isImplied) {
        if (++count > MOST_ELEMENTS || ++depth > DEEPEST) throw new Unreadable();
        if (leafDepth > 0) {
          if (LEAVES.has(name)) leafDepth++;
          return;
        }
        if (isImplied) throw new Unreadable();
        const start = begin();
        take(start);
        from = parser.endIndex + 1;
        stack.push({ name, at: parser.startIndex, open: source.slice(start, from), children: [] });
        if (LEAVES.has(name)) leafDepth = 1;
      },
      onclosetag(name) {
        depth--;
        if (leafDepth > 0 && (!LEAVES.has(name) || --leafDepth > 0)) return;
        const element = stack.pop();
        if (element?.name !== name) throw new Unreadable();
        const { at, ...written } = element;
        if (parser.startIndex === at) {
          if (!element.open.endsWith('/>')) throw new Unreadable();
          siblings().push({ id: newId(), ...written, close: '' });
          return;
        }
        const start = begin();
        const end = masked.indexOf('>', start) + 1;
        const close = source.slice(start, end);
        if (!close.startsWith('</') || close.slice(2, -1).trimEnd().toLowerCase() !== name)
          throw new Unreadable();
        if (start > from) element.children.push(textNode(source.slice(from, start)));
        from = end;
        siblings().push({ id: newId(), ...written, close });
      },
    },
    { recognizeSelfClosing: true, recognizeCDATA: true, decodeEntities: false },
  );
  try {
    parser.end(masked);
  } catch (error) {
    if (error instanceof Unreadable) return null;
    throw error;
  }
  if (stack.length > 0) return null;
  take(source.length);
  return root;
}

/**
 * Nodes, rows and designs never change, so each is read once, and what did not change stays the same object.
 */
export function once<Source extends object, Part>(read: (source: Source) => Part): (source: Source) => Part {
  const known = new WeakMap<Source, Part>();
  return (source) => {
    const part = known.get(source) ?? read(source);
    known.set(source, part);
    return part;
  };
}

export function writeTree(nodes: SourceTree): string {
  let written = '';
  for (const node of nodes) written += writeNode(node);
  return written;
}

/** With each key a whole message is written, of which one section has changed. */
const writeElement = once(
  ({ open, children, close }: SourceElement): string => open + writeTree(children) + close,
);

export const writeNode = (node: SourceNode): string => (isElement(node) ? writeElement(node) : node.text);

/** The content of an element whose content MJML takes as it is. */
export const contentOf = ({ children }: SourceElement): string => writeTree(children);
