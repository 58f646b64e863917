import { Menu, MenuButton, MenuItem, MenuProvider, MenuSeparator, useMenuStore } from '@ariakit/react/menu';
import { type ReactElement, type ReactNode, useEffect, useRef } from 'react';
import { afterPaint } from '../charts/painted.ts';

/** A button that opens a list of actions. */
export interface MenuProps {
  /** The name of the menu, and of a button that shows no text. */
  readonly label: string;
  readonly children: ReactNode;
  /** True for a button that shows a picture alone. */
  readonly isPicture?: boolean;
  readonly className?: string;
  readonly items: ReactNode;
}

/** One action of a menu. */
interface ItemProps {
  readonly onSelect?: () => void;
  readonly danger?: boolean;
  readonly checked?: boolean;
  /** True for one of several that are on or off by themselves: the menu stays open. */
  readonly isToggle?: boolean;
  /** A link in the place of the item. */
  readonly render?: ReactElement;
  readonly children: ReactNode;
}

/**
 * An opened menu. `detail` is that of the click which opened it: 0 for the keyboard, which focuses the first
 * item.
 */
export default function OpenedMenu({ detail, ...props }: MenuProps & { readonly detail: number }) {
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const menu = useMenuStore();
  // To take the list away costs more than to hide it, so that the key is answered first.
  const hide = () => {
    list.current?.setAttribute('data-leaving', '');
    afterPaint(menu.hide);
  };
  // The button that was pressed had no list yet: this one takes its press over, once.
  useEffect(() => {
    button.current?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, detail }));
  }, [detail]);
  return (
    <MenuProvider store={menu}>
      <MenuButton
        ref={button}
        {...(props.isPicture === true && { 'aria-label': props.label, title: props.label })}
        className={props.className}
      >
        {props.children}
      </MenuButton>
      {/* The items of a closed menu would be rendered with each key that is typed beside it. */}
      <Menu
        ref={list}
        gutter={6}
        portal
        unmountOnHide
        className="menu"
        aria-label={props.label}
        hideOnEscape={(event) => {
          event.preventDefault();
          hide();
          return false;
        }}
      >
        {props.items}
      </Menu>
    </MenuProvider>
  );
}

/** One action of a menu. */
export const Item = (props: ItemProps) => (
  <MenuItem
    {...(props.onSelect && { onClick: props.onSelect })}
    {...(props.render && { render: props.render })}
    {...(props.isToggle === true && {
      role: 'menuitemcheckbox',
      'aria-checked': props.checked === true,
      hideOnClick: false,
    })}
    {...(props.danger === true && { 'data-color': 'bad' })}
    className="menu-item"
  >
    {props.children}
    {props.checked === true && (
      <span aria-hidden={props.isToggle} className="ml-auto pl-3 text-accent">
        ✓
      </span>
    )}
  </MenuItem>
);

/** A separator between actions. */
export const Separator = () => <MenuSeparator className="my-1 border-edge" />;
