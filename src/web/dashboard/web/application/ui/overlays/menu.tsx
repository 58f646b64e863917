import { type ComponentProps, startTransition, useState } from 'react';
import type * as Opened from './opened-menu.tsx';

// The code of the opened list is loaded shortly before it opens, because no page needs it at first. It is no lazy component: the
// items of a list that opens would suspend, and React shows what has suspended only after 300 ms.
let opened: typeof Opened | null = null;
const load = async (): Promise<void> => {
  opened ??= await import('./opened-menu.tsx');
};

/** A button that opens a list of actions. */
export function Menu({ className = 'button button-quiet px-2', ...props }: Opened.MenuProps) {
  const [detail, setDetail] = useState<number | null>(null);
  const open = (by: number) =>
    void load().then(
      () => startTransition(() => setDetail(by)),
      // While it is rendered, so that the page around it shows the error.
      (error: unknown) =>
        setDetail(() => {
          throw error;
        }),
    );
  if (opened !== null && detail !== null)
    return <opened.default {...props} className={className} detail={detail} />;
  return (
    <button
      type="button"
      aria-haspopup="menu"
      aria-expanded={false}
      {...(props.isPicture === true && { 'aria-label': props.label, title: props.label })}
      className={className}
      onPointerEnter={() => void load()}
      onFocus={() => void load()}
      onClick={(event) => open(event.detail)}
      onKeyDown={({ key }) => key === 'ArrowDown' && open(0)}
    >
      {props.children}
    </button>
  );
}

/** One action of a menu. It is rendered by an opened list alone. */
export const Item = (props: ComponentProps<typeof Opened.Item>) => opened && <opened.Item {...props} />;

/** A separator between actions. */
export const Separator = () => opened && <opened.Separator />;
