import { icons } from '../../ui/icons.tsx';
import { Item, Menu, Separator } from '../../ui/overlays/menu.tsx';
import { COLUMN_BLOCKS, type ColumnBlock, ROW_BLOCKS, type RowBlock } from './source/new-blocks.ts';
import { blockIcons, visualIcons } from './visual-icons.tsx';

/** The menu of blocks that can be added. */
export const AddBlock = (props: {
  readonly onAdd: (kind: ColumnBlock | RowBlock) => void;
  /** Null for members who may not read partials. */
  readonly onSaved: (() => void) | null;
}) => {
  const items = (names: Readonly<Record<string, string>>) =>
    Object.entries(names).map(([kind, name]) => (
      <Item
        key={kind}
        // The menu gives the focus back to its button first.
        onSelect={() => requestAnimationFrame(() => props.onAdd(kind as ColumnBlock | RowBlock))}
      >
        <span className="text-dim">{blockIcons[kind as ColumnBlock | RowBlock]}</span>
        {name}
      </Item>
    ));
  return (
    <Menu
      label="Add block"
      className="button"
      items={
        <>
          {items(COLUMN_BLOCKS)}
          <Separator />
          {items(ROW_BLOCKS)}
          {props.onSaved && <Separator />}
          {props.onSaved && (
            <Item onSelect={props.onSaved}>
              <span className="text-dim">{visualIcons.Saved}</span>
              Saved block…
            </Item>
          )}
        </>
      }
    >
      {icons.Plus} Add block
    </Menu>
  );
};
