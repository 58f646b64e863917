import { type KeyboardEvent, lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { OutsideForm } from '../../ui/forms/outside-form.tsx';
import type { MergeFieldGroup } from '../message-fields.ts';
import { AddBlock } from './add-block.tsx';
import { BlockBar } from './block-bar.tsx';
import { BlockFields, SectionFields } from './block-fields.tsx';
import { BLOCK_ATTRIBUTE } from './block-frame.tsx';
import { BlockView } from './block-view.tsx';
import { Boundary } from './boundary.tsx';
import { Canvas } from './canvas.tsx';
import { useDroppedImages } from './dropped-images.ts';
import { Colours } from './field-parts.tsx';
import type { DesignSession, KeptDesign } from './history.ts';
import { loopFields } from './loop-fields.ts';
import { kindName, sectionName } from './names.ts';
import { Orphans } from './orphans.tsx';
import { type Block, defaultsOf, type SectionRow } from './source/blocks.ts';
import { coloursOf } from './source/colours.ts';
import { choicesOf } from './source/edit.ts';
import { contentOf } from './source/tree.ts';
import type { TextActs, TextState } from './text-editor.tsx';
import { TextTools } from './text-tools.tsx';
import { useActs } from './use-acts.ts';
import { useDesign } from './use-design.ts';
import { visualIcons } from './visual-icons.tsx';

const InsertSaved = lazy(async () => ({ default: (await import('./saved-blocks.tsx')).InsertSaved }));
const SaveBlock = lazy(async () => ({ default: (await import('./saved-blocks.tsx')).SaveBlock }));
const PickImage = lazy(() => import('../images/pick-image.tsx'));
const loadText = () => import('./text-editor.tsx');
const TextEditor = lazy(loadText);
const PLAIN: TextState = { isStrong: false, isEm: false, list: null, link: null, mayLink: false };

/** Edits MJML as blocks. An edit changes only the source of its block. */
export default function Visual(props: VisualShape) {
  return (
    <Boundary onCode={() => props.onCode(null)}>
      <SourceEditor {...props} />
    </Boundary>
  );
}

interface VisualShape {
  readonly source: string;
  readonly onChange: (source: string) => void;
  readonly isReadOnly: boolean;
  readonly fields: readonly MergeFieldGroup[];
  /** The lists among the variables, with the names of what their items have. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
  /** The message as it was left when another pane was shown. */
  readonly kept: KeptDesign;
  /** Shows the source, at a line of it where one is meant. */
  readonly onCode: (line: number | null) => void;
}

function SourceEditor(props: VisualShape) {
  const session = useDesign(props.source, props.kept, props.onChange);
  const { design } = session;
  if (!design)
    return (
      <div className="grid content-start justify-items-start gap-3 p-6">
        <p className="font-medium">The visual editor cannot show this source.</p>
        <p className="text-dim">
          An element has no end, or there is no &lt;mj-body&gt;. Correct it in Code; nothing was changed.
        </p>
        <Button onClick={() => props.onCode(null)}>Edit in Code</Button>
      </div>
    );
  return <DesignEditor {...props} session={{ ...session, design }} />;
}

function DesignEditor(props: VisualShape & { readonly session: DesignSession }) {
  const { session, isReadOnly } = props;
  const { design, tree, chosen } = session;
  const frame = useRef<HTMLDivElement>(null);
  const dock = useRef<HTMLDivElement>(null);
  const link = useRef<HTMLInputElement>(null);
  const textActs = useRef<TextActs | null>(null);
  const [state, setState] = useState(PLAIN);
  const [pressed, setPressed] = useState<{ readonly left: number; readonly top: number } | null>(null);
  const [writing, setWriting] = useState<number | null>(null);
  const [isPicking, setPicking] = useState<'new' | 'other' | null>(null);
  const [saved, setSaved] = useState<'insert' | 'save' | null>(null);
  const hasAdded = useRef(false);
  const { may } = useViewer();
  const [said, setSaid] = useState('');
  const { data: workspace } = useRead('GET /workspace', {});
  useEffect(() => void loadText(), []);
  const elementOf = (id: number | null) =>
    frame.current?.querySelector<HTMLElement>(`[${BLOCK_ATTRIBUTE}="${id}"]`);
  const focusBlock = (id: number | null) => requestAnimationFrame(() => elementOf(id)?.focus());
  /** The focused element may be gone: the keys go on from the chosen or the first block. */
  const keepFocus = () =>
    requestAnimationFrame(() => {
      if (document.activeElement === document.body)
        frame.current?.querySelector<HTMLElement>(`[${BLOCK_ATTRIBUTE}][tabindex="0"]`)?.focus();
    });
  if (writing !== null && writing !== chosen) setWriting(null);
  const { choose } = session;
  // The keys act on the chosen block. Undoing and edits choose another one than the focused one: the focus
  // goes along.
  useEffect(() => {
    const focused = document.activeElement?.getAttribute(BLOCK_ATTRIBUTE);
    if (!focused || Number(focused) === chosen || !frame.current?.contains(document.activeElement)) return;
    if (chosen === null) choose(Number(focused));
    else elementOf(chosen)?.focus();
  });
  const acts = useActs({
    session,
    colour: workspace?.branding.colour ?? null,
    font: workspace?.branding.fontFamily ?? null,
    lists: Object.keys(props.lists),
    say: setSaid,
    focusBlock,
    pickImage: setPicking,
    openCode: props.onCode,
    unfinished: props.kept.unfinished,
  });
  const dropped = useDroppedImages(!isReadOnly, (picture) => acts.placeImage(true, picture));
  const choices = choicesOf(design);
  const { unfinished, orphans } = props.kept;
  const at = choices.findIndex(({ id }) => id === chosen);
  const block = choices[at]?.block ?? null;
  const row = design.rows.find((each): each is SectionRow => each.kind === 'section' && each.id === chosen);
  const text = block && 'text' in block && writing === block.id && !isReadOnly ? block : null;
  const name = block ? kindName(block) : row ? sectionName(row) : null;
  const defaults = defaultsOf(tree);
  const fields = [...loopFields(design, chosen, props.lists), ...props.fields];

  const edit = (current: Block | null) => {
    if (isReadOnly) return;
    if (current && 'text' in current) {
      setPressed(null);
      setWriting(current.id);
    } else dock.current?.querySelector<HTMLElement>('input, select, textarea, button')?.focus();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const isMod = event.ctrlKey || event.metaKey;
    if (isMod && event.key.toLowerCase() === 'z' && !isReadOnly) {
      event.preventDefault();
      event.stopPropagation();
      if (event.shiftKey) session.redo();
      else session.undo();
      keepFocus();
      return;
    }
    if (!(event.target instanceof HTMLElement) || !event.target.hasAttribute(BLOCK_ATTRIBUTE)) return;
    const step = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0;
    const act = () => {
      if (step !== 0 && event.altKey) return isReadOnly ? null : () => acts.move(step);
      if (step !== 0) return () => focusNext(step);
      if (event.key === 'Enter') return () => edit(block);
      if (isReadOnly) return null;
      if (event.key === 'Delete' || event.key === 'Backspace') return acts.remove;
      return isMod && event.key.toLowerCase() === 'd' ? acts.duplicate : null;
    };
    const done = act();
    if (!done) return;
    event.preventDefault();
    event.stopPropagation();
    done();
  };
  const focusNext = (step: number) => {
    const next = choices[at + step];
    if (next) focusBlock(next.id);
  };
  return (
    <div ref={frame} className="flex h-[min(46rem,calc(100dvh-8rem))] min-h-120 flex-col">
      {!isReadOnly && (
        <div
          role="toolbar"
          aria-label="Blocks"
          className="flex flex-wrap items-center gap-1 border-b border-edge px-3 py-1.5"
        >
          <AddBlock onAdd={acts.add} onSaved={may('templates:read') ? () => setSaved('insert') : null} />
          <span className="ml-auto flex">
            <IconButton
              label="Undo"
              aria-disabled={session.past.length === 0}
              onClick={session.undo}
              className="aria-disabled:opacity-40"
            >
              {visualIcons.Undo}
            </IconButton>
            <IconButton
              label="Redo"
              aria-disabled={session.future.length === 0}
              onClick={session.redo}
              className="aria-disabled:opacity-40"
            >
              {visualIcons.Redo}
            </IconButton>
          </span>
        </div>
      )}
      {!isReadOnly && <Orphans orphans={orphans} onAdd={acts.addHtml} />}
      <div className="scroll min-h-0 flex-1" {...dropped}>
        <Canvas
          session={session}
          writing={text?.id ?? null}
          acts={acts}
          isReadOnly={isReadOnly}
          onKeyDown={onKeyDown}
          onPressText={(id, place) => {
            setPressed(place);
            setWriting(id);
          }}
          bar={
            name !== null && (
              <BlockBar
                name={name}
                acts={acts}
                onSave={
                  may('templates:write') && (row ?? (block !== null && block.element !== null))
                    ? () => setSaved('save')
                    : null
                }
              />
            )
          }
          text={
            text && (
              <Suspense fallback={<BlockView block={text} defaults={defaults} />}>
                <TextEditor
                  key={text.id}
                  label={kindName(text)}
                  text={text.text}
                  source={contentOf(text.element)}
                  at={pressed}
                  acts={textActs}
                  onState={setState}
                  onLink={() => link.current?.focus()}
                  onLeave={() => {
                    setWriting(null);
                    focusBlock(text.id);
                  }}
                  onChange={(source) => acts.content(text.id, source)}
                />
              </Suspense>
            )
          }
        />
      </div>
      {!isReadOnly && name !== null && (
        // biome-ignore lint/a11y/noStaticElementInteractions: Escape goes back to the block
        <div
          ref={dock}
          onKeyDown={(event) => {
            // It would save a form around the editor.
            if (event.key === 'Enter' && event.target instanceof HTMLInputElement) event.preventDefault();
            if (event.key === 'Escape' && !event.defaultPrevented) focusBlock(chosen);
            else if (event.key !== 'Escape') onKeyDown(event);
          }}
          className="scroll max-h-[45%] shrink-0 border-t border-edge bg-sheet"
        >
          <section aria-label={`Settings: ${name}`} className="grid gap-2.5 px-3 py-2.5">
            {text && (
              <TextTools
                state={state}
                acts={textActs}
                mayList={text.kind !== 'heading'}
                fields={fields}
                link={link}
              />
            )}
            <Colours value={coloursOf(tree, workspace?.branding.colour ?? null)}>
              <div className="grid grid-cols-2 gap-x-3 gap-y-2.5 sm:grid-cols-3">
                {block && (
                  <BlockFields
                    block={block}
                    acts={acts}
                    defaults={defaults}
                    fields={fields}
                    unfinished={unfinished}
                  />
                )}
                {row && <SectionFields row={row} acts={acts} defaults={defaults} />}
              </div>
            </Colours>
          </section>
        </div>
      )}
      <p role="status" className="sr-only">
        {said}
      </p>
      {saved !== null && (
        <OutsideForm>
          {saved === 'insert' ? (
            <InsertSaved onPick={acts.addSaved} onClose={() => setSaved(null)} />
          ) : (
            <SaveBlock source={acts.sourceOfChosen() ?? ''} onClose={() => setSaved(null)} />
          )}
        </OutsideForm>
      )}
      {isPicking !== null && (
        <OutsideForm>
          <PickImage
            format="mjml"
            onPick={(_, image) => {
              hasAdded.current = isPicking === 'new';
              acts.placeImage(isPicking === 'new', image);
            }}
            onClose={() => {
              setPicking(null);
              // A new image has the focus.
              if (!hasAdded.current) focusBlock(chosen);
              hasAdded.current = false;
            }}
          />
        </OutsideForm>
      )}
    </div>
  );
}
