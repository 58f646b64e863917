import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { html } from '@codemirror/lang-html';
import { markdown } from '@codemirror/lang-markdown';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { unifiedMergeView } from '@codemirror/merge';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { type RefObject, useEffect, useRef } from 'react';
import { liquidColors } from './liquid-colors.ts';

/** The languages that are coloured; Liquid is known within each. */
export type Language = 'html' | 'markdown' | 'text';

const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--color-ink)', backgroundColor: 'var(--color-sheet)', fontSize: '13px' },
  '&.cm-focused': { outline: '2px solid var(--color-accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '20px', overflow: 'auto' },
  '.cm-content': { padding: '12px 0', caretColor: 'var(--color-ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--color-ink)' },
  '.cm-gutters': {
    backgroundColor: 'var(--color-sunk)',
    color: 'var(--color-faint)',
    borderRight: '1px solid var(--color-edge)',
  },
  '.cm-activeLine, .cm-activeLineGutter': {
    backgroundColor: 'color-mix(in srgb, var(--color-accent) 7%, transparent)',
  },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--color-accent) 25%, transparent)',
  },
  '.cm-panels': { backgroundColor: 'var(--color-raised)', color: 'var(--color-ink)' },
  '.cm-changedLine, .cm-insertedLine': {
    backgroundColor: 'color-mix(in srgb, var(--color-green) 10%, transparent)',
  },
  '.cm-deletedChunk': { backgroundColor: 'color-mix(in srgb, var(--color-red) 10%, transparent)' },
  '.cm-changedText': { background: 'color-mix(in srgb, var(--color-green) 22%, transparent)' },
  '.cm-deletedChunk .cm-deletedText': { background: 'color-mix(in srgb, var(--color-red) 22%, transparent)' },
});

const colors = HighlightStyle.define([
  { tag: [tags.tagName, tags.keyword, tags.controlKeyword], color: 'var(--color-blue)' },
  { tag: [tags.string, tags.attributeValue, tags.link, tags.url], color: 'var(--color-green)' },
  { tag: [tags.attributeName, tags.propertyName], color: 'var(--color-amber)' },
  { tag: [tags.variableName, tags.special(tags.variableName), tags.name], color: 'var(--color-accent)' },
  { tag: [tags.comment, tags.meta, tags.processingInstruction], color: 'var(--color-faint)' },
  { tag: [tags.number, tags.bool, tags.operatorKeyword], color: 'var(--color-red)' },
  { tag: tags.heading, fontWeight: '600' },
  { tag: tags.strong, fontWeight: '700' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: [tags.bracket, tags.angleBracket, tags.brace], color: 'var(--color-dim)' },
]);

const languageOf = (language: Language): Extension => {
  if (language === 'html') return html({ autoCloseTags: true });
  return language === 'markdown' ? markdown() : [];
};

const LINE_END = /\r\n?/g;
/** A text with the line ends of another one: the editor has its own. */
const withEndsOf = (value: string, text: string): string =>
  value.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text;

/**
 * An editor of source. It lives in a shadow tree: there its styles need no style element, which the policy of
 * the page refuses. Tab leaves it, as it leaves every field.
 */
export default function CodeEditor(props: {
  readonly label: string;
  readonly language: Language;
  /** The text. A value that was not typed here replaces the text, and can be undone. */
  readonly value: string;
  /** Shows what has changed since then. */
  readonly before?: string;
  readonly isReadOnly?: boolean;
  readonly onChange?: (value: string) => void;
  /** Set while the editor is there: replaces the selection with a text. */
  readonly inserter?: RefObject<((text: string) => void) | null>;
  /** Set while the editor is there: shows a line, counted from 1, and places the cursor in it. */
  readonly lineShower?: RefObject<((line: number) => void) | null>;
  /** A line that is shown once the editor is there. */
  readonly wantedLine?: RefObject<number | null>;
}) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const latest = useRef(props);
  /** The text that was typed last: as long as the value is that one, nothing is compared. */
  const typed = useRef<string | null>(null);
  useEffect(() => {
    latest.current = props;
  });
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const { label, language, value, before, isReadOnly = false } = latest.current;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const extensions: Extension[] = [
      lineNumbers(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      search({ top: true }),
      highlightSelectionMatches(),
      keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap]),
      languageOf(language),
      theme,
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': label }),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (!docChanged) return;
        typed.current = withEndsOf(latest.current.value, state.doc.toString());
        latest.current.onChange?.(typed.current);
      }),
      ...(isReadOnly ? [EditorState.readOnly.of(true)] : [highlightActiveLine()]),
      // On the tints of what has changed, no colour but the plain one can be read.
      before === undefined
        ? [syntaxHighlighting(colors), liquidColors]
        : unifiedMergeView({
            original: before,
            mergeControls: false,
            gutter: true,
            syntaxHighlightDeletions: false,
          }),
    ];
    const made = new EditorView({ doc: value, parent: root, root, extensions });
    view.current = made;
    const { inserter, lineShower, wantedLine } = latest.current;
    const showLine = (number: number) => {
      const line = made.state.doc.line(Math.min(Math.max(1, number), made.state.doc.lines));
      made.dispatch({
        selection: { anchor: line.from, head: line.to },
        effects: EditorView.scrollIntoView(line.from, { y: 'center' }),
      });
      made.focus();
    };
    if (lineShower) lineShower.current = showLine;
    if (wantedLine && wantedLine.current !== null) {
      showLine(wantedLine.current);
      wantedLine.current = null;
    }
    if (inserter)
      inserter.current = (text) => {
        made.dispatch(made.state.replaceSelection(text));
        made.focus();
      };
    return () => {
      if (inserter) inserter.current = null;
      if (lineShower) lineShower.current = null;
      made.destroy();
    };
  }, []);
  const { value } = props;
  useEffect(() => {
    const shown = view.current;
    if (!shown || value === typed.current) return;
    if (shown.state.doc.toString() === value.replace(LINE_END, '\n')) return;
    shown.dispatch({ changes: { from: 0, to: shown.state.doc.length, insert: value } });
  }, [value]);
  return <div ref={host} className="h-full min-h-0" />;
}
