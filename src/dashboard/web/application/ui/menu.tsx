import { Menu as AriakitMenu, MenuButton, MenuItem, MenuProvider, MenuSeparator } from '@ariakit/react/menu';
import type { ReactElement, ReactNode } from 'react';

/** A button that opens a list of things to do. */
export const Menu = (props: {
  /** The name of the menu, and of a button that shows no text. */
  readonly label: string;
  readonly children: ReactNode;
  /** True for a button that shows a picture alone. */
  readonly isPicture?: boolean;
  readonly className?: string;
  readonly items: ReactNode;
}) => (
  <MenuProvider>
    <MenuButton
      {...(props.isPicture === true && { 'aria-label': props.label, title: props.label })}
      className={props.className ?? 'button button-quiet px-2'}
    >
      {props.children}
    </MenuButton>
    <AriakitMenu gutter={6} portal className="menu" aria-label={props.label}>
      {props.items}
    </AriakitMenu>
  </MenuProvider>
);

/** One thing to do in a menu. */
export const Item = (props: {
  readonly onSelect?: () => void;
  readonly danger?: boolean;
  readonly checked?: boolean;
  /** A link in the place of the item. */
  readonly render?: ReactElement;
  readonly children: ReactNode;
}) => (
  <MenuItem
    {...(props.onSelect && { onClick: props.onSelect })}
    {...(props.render && { render: props.render })}
    {...(props.danger === true && { 'data-color': 'bad' })}
    className="menu-item"
  >
    {props.children}
    {props.checked === true && <span className="ml-auto pl-3 text-accent">✓</span>}
  </MenuItem>
);

export const Separator = () => <MenuSeparator className="my-1 border-edge" />;
