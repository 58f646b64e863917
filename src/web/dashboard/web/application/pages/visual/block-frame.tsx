import type { DragEvent, KeyboardEvent, ReactNode } from 'react';
import type { Place } from './source/place.ts';

/** The acts of a person on blocks, for the canvas. */
export interface FrameActs {
  readonly choose: (id: number) => void;
  readonly moveTo: (id: number, place: Place) => void;
  /** True for a row of the message; blocks in columns and rows are dropped beside their own kind. */
  readonly isRow: (id: number) => boolean;
}

/** A place beside a block, for the one that is dragged. */
export interface Drop {
  readonly place: Place;
  /** The block, and the side of it. */
  readonly id: number;
  readonly isAfter: boolean;
}

/** A block that is dragged, and the place it would have. */
export interface Dragging {
  readonly begin: (id: number) => void;
  readonly over: (drop: Drop, isRow: boolean) => boolean;
  readonly drop: () => void;
  readonly end: () => void;
}

/** The attribute by which the element of a block is found. */
export const BLOCK_ATTRIBUTE = 'data-block';

/** A block that can be chosen, focused, dragged and dropped on. */
export function BlockFrame(props: {
  readonly id: number;
  readonly name: string;
  /**
   * The element that tells the place of the chosen block among all: in each name, it would draw all blocks
   * again.
   */
  readonly placeId: string;
  /** The places before and after it. */
  readonly places: () => readonly [Place, Place];
  readonly isRow: boolean;
  readonly chosen: number | null;
  readonly focusable: number | null | undefined;
  readonly acts: Pick<FrameActs, 'choose'>;
  readonly isReadOnly: boolean;
  readonly bar: ReactNode;
  readonly drag: Dragging;
  readonly drop: Drop | null;
  readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
  readonly children: ReactNode;
}) {
  const { id, places, isRow, drag, drop, acts } = props;
  const isChosen = props.chosen === id;
  const over = (event: DragEvent<HTMLElement>) => {
    const { top, height } = event.currentTarget.getBoundingClientRect();
    const isAfter = event.clientY > top + height / 2;
    if (drag.over({ place: places()[isAfter ? 1 : 0], id, isAfter }, isRow)) {
      event.preventDefault();
      event.stopPropagation();
    }
  };
  const line = <span aria-hidden="true" className="absolute inset-x-1 z-10 h-1 rounded-full bg-accent" />;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
    <div
      role="group"
      aria-label={props.name}
      {...(isChosen && { 'aria-current': true, 'aria-describedby': props.placeId })}
      {...{ [BLOCK_ATTRIBUTE]: id }}
      tabIndex={props.focusable === id ? 0 : -1}
      className={`visual-frame ${isRow ? 'visual-row' : ''} ${isRow && props.chosen === null ? 'visual-far' : ''}`}
      onFocus={(event) => {
        if (event.target === event.currentTarget) acts.choose(id);
      }}
      onClick={(event) => {
        event.stopPropagation();
        acts.choose(id);
      }}
      onKeyDown={props.onKeyDown}
      onDragOver={over}
      onDrop={(event) => {
        event.stopPropagation();
        event.preventDefault();
        drag.drop();
      }}
    >
      {drop?.id === id && !drop.isAfter && <span className="absolute inset-x-0 -top-0.5">{line}</span>}
      {isChosen && !props.isReadOnly && (
        // biome-ignore lint/a11y/noStaticElementInteractions: its buttons have the keys
        <div
          className="visual-bar"
          onDragStart={(event) => {
            event.dataTransfer.effectAllowed = 'move';
            // As text, its name could be dropped into words.
            event.dataTransfer.setData('application/x-block', props.name);
            drag.begin(id);
          }}
          onDragEnd={drag.end}
        >
          {props.bar}
        </div>
      )}
      {props.children}
      {drop?.id === id && drop.isAfter && <span className="absolute inset-x-0 bottom-0.5">{line}</span>}
    </div>
  );
}
