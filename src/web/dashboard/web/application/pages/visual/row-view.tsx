import { type KeyboardEvent, memo, type ReactNode } from 'react';
import { BlockFrame, type Dragging, type Drop } from './block-frame.tsx';
import { allLooks, BlockView, styleOf } from './block-view.tsx';
import { blockName, kindName, sectionName } from './names.ts';
import { FIRST, type Position, placesOf, positionsIn } from './places.ts';
import type { Block, Defaults, Row, SectionPart } from './source/blocks.ts';
import { elementsOf } from './source/place.ts';
import type { SourceTree } from './source/tree.ts';

const COLUMNS = 'grid gap-y-0 @md/canvas:auto-cols-fr @md/canvas:grid-flow-col';

/** The acts of a person on the canvas. */
export interface Hands {
  readonly drag: Dragging;
  /** The element that tells the place of the chosen block among all. */
  readonly placeId: string;
  /** The position of a row: a change before it does not draw it again. */
  readonly positionOf: (id: number) => Position;
  readonly choose: (id: number) => void;
  readonly onPressText: (id: number, at: { readonly left: number; readonly top: number }) => void;
  readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
}

interface RowShape {
  readonly row: Row;
  readonly parent: number | null;
  readonly defaults: Defaults;
  readonly hands: Hands;
  readonly isReadOnly: boolean;
  /**
   * The block that the key Tab reaches, the chosen one, and the one whose text is edited; null where they are
   * in another row.
   */
  readonly focusable: number | null;
  readonly chosen: number | null;
  readonly writing: number | null;
  readonly drop: Drop | null;
  readonly bar: ReactNode;
  readonly text: ReactNode;
}

/** One row of a message. */
export const RowView = memo(function RowView(props: RowShape) {
  const { row, parent, defaults, hands } = props;
  const position = () => hands.positionOf(row.id);
  if (row.kind !== 'section')
    return <BlockIn {...props} block={row} parent={parent} position={position} isRow />;
  const looks = allLooks(defaults, row.element);
  return (
    <Frame {...props} id={row.id} name={sectionName(row)} parent={parent} position={position} isRow>
      <div style={{ ...styleOf(looks), backgroundColor: looks['background-color'] }} className={COLUMNS}>
        {row.parts.map((part) =>
          part.kind === 'column' ? (
            <Column key={part.element.id} {...props} part={part}>
              <Blocks
                {...props}
                parent={part.element.id}
                siblings={part.element.children}
                blocks={part.blocks}
              />
            </Column>
          ) : (
            <Blocks
              key={part.id}
              {...props}
              parent={row.id}
              siblings={row.element.children}
              blocks={[part]}
            />
          ),
        )}
      </div>
    </Frame>
  );
});

type InRow = RowShape & { readonly parent: number | null };

function Blocks({
  blocks,
  siblings,
  ...shape
}: InRow & { readonly blocks: readonly Block[]; readonly siblings: SourceTree }) {
  const positions = positionsIn(siblings);
  return blocks.map((block) => (
    <BlockIn
      key={block.id}
      {...shape}
      block={block}
      position={() => positions.get(block.id) ?? FIRST}
      isRow={false}
    />
  ));
}

type FrameShape = InRow & { readonly position: () => Position; readonly isRow: boolean };

function BlockIn({ block, ...shape }: FrameShape & { readonly block: Block }) {
  const { defaults, hands, chosen, text } = shape;
  return (
    <Frame {...shape} id={block.id} name={blockName(block)}>
      {block.kind === 'marker' ? (
        <MarkerView block={block} />
      ) : (
        // biome-ignore lint/a11y/noStaticElementInteractions: the frame around it has the keys
        // biome-ignore lint/a11y/useKeyWithClickEvents: the frame around it has the keys
        <div
          onClick={({ clientX, clientY }) => {
            if ('text' in block) hands.onPressText(block.id, { left: clientX, top: clientY });
          }}
        >
          <BlockView
            block={block}
            defaults={defaults}
            {...('text' in block && block.id === chosen && text !== null && { text })}
          />
        </div>
      )}
    </Frame>
  );
}

function Frame({
  id,
  name,
  position,
  children,
  ...shape
}: FrameShape & { readonly id: number; readonly name: string; readonly children: ReactNode }) {
  const { hands, parent } = shape;
  return (
    <BlockFrame
      id={id}
      name={name}
      places={() => placesOf(parent, id, position())}
      placeId={hands.placeId}
      isRow={shape.isRow}
      chosen={shape.chosen}
      focusable={shape.focusable}
      acts={hands}
      isReadOnly={shape.isReadOnly}
      bar={shape.bar}
      drag={hands.drag}
      drop={shape.drop}
      onKeyDown={hands.onKeyDown}
    >
      {children}
    </BlockFrame>
  );
}

function Column({
  part,
  defaults,
  hands,
  drop,
  children,
}: Pick<RowShape, 'defaults' | 'hands' | 'drop'> & {
  readonly part: Extract<SectionPart, { kind: 'column' }>;
  readonly children: ReactNode;
}) {
  const { id, children: nodes } = part.element;
  const looks = allLooks(defaults, part.element);
  const isEmpty = part.blocks.length === 0;
  const place = { parent: id, index: elementsOf(nodes).length };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping has its keys, Alt and the arrows
    <div
      style={{ padding: looks.padding, backgroundColor: looks['background-color'] }}
      onDragOver={(event) => {
        if (isEmpty && hands.drag.over({ place, id, isAfter: true }, false)) event.preventDefault();
      }}
      onDrop={hands.drag.drop}
      className={`min-w-0 ${isEmpty ? `m-2 grid min-h-16 place-items-center rounded-md border border-dashed ${drop?.id === id ? 'border-accent' : 'border-[#a1a1aa]'}` : ''}`}
    >
      {isEmpty ? <span className="text-caption text-[#52525b]">Empty column</span> : children}
    </div>
  );
}

/** The beginning or the end of a loop or of a condition. */
const MarkerView = ({ block }: { readonly block: Extract<Block, { kind: 'marker' }> }) => {
  const { tag, words } = block.marker;
  return (
    <div className="flex items-center gap-2 bg-[#eef2ff] px-4 py-1.5 text-caption text-[#3730a3]">
      <span className="font-medium">{tag === 'for' ? 'For each' : kindName(block)}</span>
      <span className="truncate">{words}</span>
    </div>
  );
};
