import { lazy, Suspense, useState } from 'react';
import type { MenuProps } from './opened-menu.tsx';

// The code of the opened list is loaded shortly before it opens, because no page needs it at first.
const load = () => import('./opened-menu.tsx');
const OpenedMenu = lazy(load);

/** A button that opens a list of actions. */
export function Menu({ className = 'button button-quiet px-2', ...props }: MenuProps) {
  const [detail, setDetail] = useState<number | null>(null);
  const button = (
    <button
      type="button"
      aria-haspopup="menu"
      aria-expanded={false}
      {...(props.isPicture === true && { 'aria-label': props.label, title: props.label })}
      className={className}
      onPointerEnter={() => void load()}
      onFocus={() => void load()}
      onClick={(event) => setDetail(event.detail)}
      onKeyDown={({ key }) => key === 'ArrowDown' && setDetail(0)}
    >
      {props.children}
    </button>
  );
  return detail === null ? (
    button
  ) : (
    <Suspense fallback={button}>
      <OpenedMenu {...props} className={className} detail={detail} />
    </Suspense>
  );
}

export const Item = lazy(async () => ({ default: (await load()).Item }));
export const Separator = lazy(async () => ({ default: (await load()).Separator }));
