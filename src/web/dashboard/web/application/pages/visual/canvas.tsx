import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import type { Dragging, Drop, FrameActs } from './block-frame.tsx';
import type { DesignSession } from './history.ts';
import { FIRST, positionsIn } from './places.ts';
import { type Hands, RowView } from './row-view.tsx';
import { attributesOf } from './source/attributes.ts';
import { defaultsOf, type Row } from './source/blocks.ts';
import { choicesIn, choicesOf } from './source/edit.ts';

interface CanvasShape {
  readonly session: DesignSession;
  readonly acts: FrameActs;
  readonly isReadOnly: boolean;
  /** The text that is edited. */
  readonly writing: number | null;
  /** The bar of the chosen block. */
  readonly bar: ReactNode;
  /** The editor of the chosen text. */
  readonly text: ReactNode;
  readonly onPressText: (id: number, at: { readonly left: number; readonly top: number }) => void;
  readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
}

/**
 * The message with its blocks, which are chosen, moved and dropped here. A row is drawn again only when it
 * has changed.
 */
export function Canvas(props: CanvasShape) {
  const { session, isReadOnly } = props;
  const { design, tree, chosen } = session;
  const { rows, body } = design;
  const { hands, drop } = useHands(props);
  const choices = choicesOf(design);
  const defaults = defaultsOf(tree);
  const chosenRow = rows.find((row) => isIn(row, chosen));
  const { 'background-color': background } = body ? attributesOf(body.open) : {};
  return (
    <section
      aria-label="Canvas"
      className="visual-canvas @container/canvas"
      style={{ backgroundColor: background ?? '#ffffff' }}
    >
      <div className="mx-auto max-w-150 bg-[inherit]">
        {rows.map((row, at) => {
          const isChosen = row === chosenRow;
          return (
            <RowView
              key={row.id}
              row={row}
              hands={hands}
              isReadOnly={isReadOnly}
              parent={body?.id ?? null}
              defaults={defaults}
              focusable={isChosen ? chosen : !chosenRow && at === 0 ? row.id : null}
              drop={drop && (isIn(row, drop.id) || isColumn(row, drop.id)) ? drop : null}
              chosen={isChosen ? chosen : null}
              writing={isChosen ? props.writing : null}
              bar={isChosen ? props.bar : null}
              text={isChosen ? props.text : null}
            />
          );
        })}
        <p id={hands.placeId} hidden>
          {choices.findIndex(({ id }) => id === chosen) + 1} of {choices.length}
        </p>
        {rows.length === 0 && (
          <p className="p-10 text-center text-[#52525b]">This message is empty. Add a block to begin.</p>
        )}
      </div>
    </section>
  );
}

const isIn = (row: Row, id: number | null): boolean => choicesIn(row).some((choice) => choice.id === id);

const isColumn = (row: Row, id: number): boolean =>
  row.kind === 'section' && row.parts.some((part) => part.kind === 'column' && part.element.id === id);

/**
 * The acts of a person on the canvas, as functions that stay the same: rows would be drawn again for others.
 */
function useHands(props: CanvasShape): { readonly hands: Hands; readonly drop: Drop | null } {
  const latest = useRef(props);
  latest.current = props;
  const dragged = useRef<number | null>(null);
  const [drop, setDrop] = useState<Drop | null>(null);
  const wanted = useRef<Drop | null>(null);
  const placeId = useId();
  const [hands] = useState((): Hands => {
    const put = (next: Drop | null) => {
      wanted.current = next;
      setDrop(next);
    };
    const drag: Dragging = {
      begin: (id) => {
        dragged.current = id;
      },
      over: (next, isRow) => {
        const { current } = dragged;
        if (current === null || isRow !== latest.current.acts.isRow(current)) return false;
        const { current: last } = wanted;
        if (last?.id !== next.id || last.isAfter !== next.isAfter) put(next);
        return true;
      },
      end: () => {
        dragged.current = null;
        put(null);
      },
      drop: () => {
        const { current } = dragged;
        if (current !== null && wanted.current) latest.current.acts.moveTo(current, wanted.current.place);
        drag.end();
      },
    };
    return {
      drag,
      placeId,
      positionOf: (id) => {
        const { design, tree } = latest.current.session;
        return positionsIn(design.body?.children ?? tree).get(id) ?? FIRST;
      },
      choose: (id) => latest.current.acts.choose(id),
      onKeyDown: (event) => latest.current.onKeyDown(event),
      onPressText: (id, at) => {
        if (id !== latest.current.writing && !latest.current.isReadOnly) latest.current.onPressText(id, at);
      },
    };
  });
  return { hands, drop };
}
