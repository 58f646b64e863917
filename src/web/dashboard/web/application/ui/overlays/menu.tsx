import { type ComponentProps, startTransition, useState } from 'react';
import { codeOf } from '../code.ts';
import type * as Opened from './opened-menu.tsx';

// No page needs the code of the opened list at first.
const opened = codeOf(async () => {
  const { default: OpenedMenu, Item, Separator } = await import('./opened-menu.tsx');
  return { OpenedMenu, Item, Separator };
});

/** A button that opens a list of actions. */
export function Menu({ className = 'button button-quiet px-2', ...props }: Opened.MenuProps) {
  const [detail, setDetail] = useState<number | null>(null);
  const open = (by: number) => opened.whenLoaded(() => startTransition(() => setDetail(by)), setDetail);
  if (opened.module && detail !== null)
    return <opened.module.OpenedMenu {...props} className={className} detail={detail} />;
  return (
    <button
      type="button"
      aria-haspopup="menu"
      aria-expanded={false}
      {...(props.isPicture === true && { 'aria-label': props.label, title: props.label })}
      className={className}
      onPointerEnter={() => void opened.load()}
      onFocus={() => void opened.load()}
      onClick={(event) => open(event.detail)}
      onKeyDown={({ key }) => key === 'ArrowDown' && open(0)}
    >
      {props.children}
    </button>
  );
}

/** One action of a menu. It is rendered by an opened list alone. */
export const Item = (props: ComponentProps<typeof Opened.Item>) =>
  opened.module && <opened.module.Item {...props} />;

/** A separator between actions. */
export const Separator = () => opened.module && <opened.module.Separator />;
