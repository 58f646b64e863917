import { IconButton } from '../../ui/button.tsx';
import { icons } from '../../ui/icons.tsx';
import { visualIcons } from './visual-icons.tsx';

/** The acts on the chosen block. */
export interface BarActs {
  readonly move: (step: -1 | 1) => void;
  readonly duplicate: () => void;
  readonly remove: () => void;
}

/** The bar over the chosen block. */
export const BlockBar = (props: {
  readonly name: string;
  readonly acts: BarActs;
  /** Null where it cannot be saved. */
  readonly onSave: (() => void) | null;
}) => (
  <>
    <span
      draggable
      title="Drag to move"
      className="grid h-7 cursor-grab place-items-center px-1 text-dim"
      data-grip
    >
      {visualIcons.Grip}
    </span>
    <span className="pr-1 text-caption font-medium whitespace-nowrap">{props.name}</span>
    <IconButton label="Move up" className="size-7" onClick={() => props.acts.move(-1)}>
      {visualIcons.Up}
    </IconButton>
    <IconButton label="Move down" className="size-7" onClick={() => props.acts.move(1)}>
      {visualIcons.Down}
    </IconButton>
    <IconButton label="Duplicate block" className="size-7" onClick={props.acts.duplicate}>
      {icons.Copy}
    </IconButton>
    {props.onSave && (
      <IconButton label="Save block" className="size-7" onClick={props.onSave}>
        {visualIcons.Saved}
      </IconButton>
    )}
    <IconButton label="Delete block" className="size-7" onClick={props.acts.remove}>
      {visualIcons.Trash}
    </IconButton>
  </>
);
