import { baseKeymap, chainCommands, toggleMark } from 'prosemirror-commands';
import { keymap } from 'prosemirror-keymap';
import { Node } from 'prosemirror-model';
import { liftListItem, splitListItem, wrapInList } from 'prosemirror-schema-list';
import { type Command, EditorState, Selection, TextSelection } from 'prosemirror-state';
import { EditorView } from 'prosemirror-view';
import { type RefObject, useEffect, useRef } from 'react';
import { chips } from './chips.ts';
import { attributesOf, withAttribute } from './source/attributes.ts';
import { type RichText, writeRichText } from './source/rich-text.ts';
import { copies, schema } from './text-schema.ts';

/** The state of the buttons of a text. */
export interface TextState {
  readonly isStrong: boolean;
  readonly isEm: boolean;
  /** The tag of the list around the cursor. */
  readonly list: 'ul' | 'ol' | null;
  /** The address of the link at the cursor; null without one. */
  readonly link: string | null;
  /** False where nothing is selected, and no link is at the cursor. */
  readonly mayLink: boolean;
}

export interface TextActs {
  readonly strong: () => void;
  readonly em: () => void;
  readonly list: (tag: 'ul' | 'ol') => void;
  readonly link: (href: string) => void;
  /** Removes a link that was left without an address. */
  readonly endLink: () => void;
  readonly insert: (liquid: string) => void;
  readonly focus: () => void;
}

const { marks, nodes } = schema;
const STRONG = toggleMark(marks.strong, { tag: 'strong', attributes: '' });
const EM = toggleMark(marks.em, { tag: 'em', attributes: '' });
const addBreak: Command = (state, dispatch) => {
  dispatch?.(state.tr.replaceSelectionWith(nodes.break.create(), true).scrollIntoView());
  return true;
};
/** Selects the characters of all blocks and not the blocks: what is typed over a heading stays one. */
const selectAll: Command = ({ doc, tr }, dispatch) => {
  dispatch?.(
    tr.setSelection(TextSelection.create(doc, Selection.atStart(doc).from, Selection.atEnd(doc).to)),
  );
  return true;
};
const NEW_ITEM = { tag: 'li', attributes: '' };

const listAt = ({
  selection: { $from },
}: EditorState): { readonly node: Node; readonly at: number } | null => {
  for (let depth = $from.depth; depth > 0; depth--)
    if ($from.node(depth).type === nodes.list) return { node: $from.node(depth), at: $from.before(depth) };
  return null;
};

/** Makes a list of the selection, another kind of list of a list, and paragraphs of a list of that kind. */
const toggleList =
  (tag: 'ul' | 'ol'): Command =>
  (state, dispatch) => {
    const list = listAt(state);
    if (!list) return wrapInList(nodes.list, { tag, attributes: '' })(state, dispatch);
    if (list.node.attrs.tag === tag) return liftListItem(nodes.item)(state, dispatch);
    dispatch?.(state.tr.setNodeMarkup(list.at, null, { ...list.node.attrs, tag }));
    return true;
  };

/** Gives the selection, or the link around the cursor, an address. */
const setLink =
  (href: string): Command =>
  (state, dispatch) => {
    const { from, to } = linkRange(state);
    if (from === to) return false;
    const known = marks.link.isInSet(state.doc.resolve(from).nodeAfter?.marks ?? []);
    const changed = withAttribute(`<a${known?.attrs.attributes ?? ''}>`, 'href', href);
    const attributes = changed.slice('<a'.length, -1);
    const { tr } = state;
    tr.removeMark(from, to, marks.link);
    tr.addMark(from, to, marks.link.create({ tag: 'a', attributes }));
    dispatch?.(tr);
    return true;
  };

/** While an address is typed again, its link is without one; it goes once the field is left. */
const endLink: Command = (state, dispatch) => {
  const { from, to } = linkRange(state);
  if (from === to || stateOf(state).link !== '') return false;
  dispatch?.(state.tr.removeMark(from, to, marks.link));
  return true;
};

/** The selection, or the link around the cursor. */
function linkRange({ selection, doc }: EditorState): { readonly from: number; readonly to: number } {
  const { from, to, empty, $from } = selection;
  const mark = empty ? marks.link.isInSet($from.marks()) : undefined;
  if (!mark) return { from, to };
  const [start, end] = [$from.start(), $from.end()];
  let [first, last] = [from, to];
  while (first > start && mark.isInSet(doc.nodeAt(first - 1)?.marks ?? [])) first--;
  while (last < end && mark.isInSet(doc.nodeAt(last)?.marks ?? [])) last++;
  return { from: first, to: last };
}

function stateOf(state: EditorState): TextState {
  const { from, to, empty, $from } = state.selection;
  const range = linkRange(state);
  const at = state.storedMarks ?? $from.marks();
  const has = (type: (typeof marks)['strong']) =>
    empty ? type.isInSet(at) !== undefined : state.doc.rangeHasMark(from, to, type);
  let link = marks.link.isInSet(at);
  state.doc.nodesBetween(from, to, (node) => {
    link ??= marks.link.isInSet(node.marks);
  });
  return {
    isStrong: has(marks.strong),
    isEm: has(marks.em),
    list: listAt(state)?.node.attrs.tag ?? null,
    link: link ? (attributesOf(`<a${link.attrs.attributes}>`).href ?? '') : null,
    mayLink: range.from !== range.to,
  };
}

/** Edits the text of one block in its place. */
export default function TextEditor(props: {
  readonly label: string;
  readonly text: RichText;
  /**
   * The source of the text, by which a change from elsewhere is known: white space at its ends is lost when
   * it is read.
   */
  readonly source: string;
  /** The point that the person pressed; null for the end of the text. */
  readonly at: { readonly left: number; readonly top: number } | null;
  readonly acts: RefObject<TextActs | null>;
  readonly onChange: (source: string) => void;
  readonly onState: (state: TextState) => void;
  /** The key for links: the field of the address gets the focus. */
  readonly onLink: () => void;
  readonly onLeave: () => void;
}) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  /** The source that this editor gave or got last. */
  const known = useRef(props.source);
  const latest = useRef(props);
  useEffect(() => {
    latest.current = props;
  });
  useEffect(() => {
    if (!host.current) return;
    const { label, text, at, acts } = latest.current;
    const leave: Command = () => {
      latest.current.onLeave();
      return true;
    };
    const link: Command = () => {
      latest.current.onLink();
      return true;
    };
    const plugins = [
      chips,
      keymap({
        'Mod-a': selectAll,
        'Mod-b': STRONG,
        'Mod-i': EM,
        'Mod-k': link,
        Escape: leave,
        'Shift-Enter': addBreak,
        'Mod-Enter': addBreak,
        Enter: chainCommands(splitListItem(nodes.item, NEW_ITEM), liftListItem(nodes.item)),
      }),
      keymap(baseKeymap),
    ];
    const made = new EditorView(host.current, {
      state: EditorState.create({ doc: Node.fromJSON(schema, text), plugins }),
      clipboardSerializer: copies,
      attributes: { 'aria-label': label, role: 'textbox', 'aria-multiline': 'true', class: 'visual-input' },
      dispatchTransaction(transaction) {
        const state = made.state.apply(transaction);
        made.updateState(state);
        latest.current.onState(stateOf(state));
        if (!transaction.docChanged) return;
        known.current = writeRichText(state.doc.toJSON() as RichText);
        latest.current.onChange(known.current);
      },
    });
    view.current = made;
    const run = (command: Command) => {
      command(made.state, made.dispatch, made);
      made.focus();
    };
    acts.current = {
      strong: () => run(STRONG),
      em: () => run(EM),
      list: (tag) => run(toggleList(tag)),
      link: (href) => setLink(href)(made.state, made.dispatch),
      endLink: () => endLink(made.state, made.dispatch),
      insert: (source) => {
        made.dispatch(made.state.tr.replaceSelectionWith(nodes.liquid.create({ source }), true));
        made.focus();
      },
      focus: () => made.focus(),
    };
    const pressed = at && made.posAtCoords(at);
    const { doc, tr } = made.state;
    const selection = pressed ? Selection.near(doc.resolve(pressed.pos)) : Selection.atEnd(doc);
    made.dispatch(tr.setSelection(selection));
    made.focus();
    return () => {
      acts.current = null;
      made.destroy();
    };
  }, []);
  const { source } = props;
  useEffect(() => {
    const shown = view.current;
    if (!shown || source === known.current) return;
    known.current = source;
    const doc = Node.fromJSON(schema, latest.current.text);
    const state = EditorState.create({ doc, plugins: shown.state.plugins });
    shown.updateState(state.apply(state.tr.setSelection(Selection.atEnd(doc))));
  }, [source]);
  return <div ref={host} />;
}
