import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from 'react';
import { leaving } from '../../editing/leaving.ts';
import { IconButton } from '../button.tsx';
import { afterPaint, usePainted } from '../charts/painted.ts';
import { icons } from '../icons.tsx';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Tailwind's width of it; `max-w-md` by default. */
  readonly width?: string;
  /** True where it shows what is shown only once: its own button alone closes it. */
  readonly isShownOnce?: boolean;
}

/**
 * A dialog above the page, open while it is rendered; Escape closes it. It opens after the click is painted,
 * because making the page inert restyles all of it.
 */
export const Dialog = (props: DialogProps) => usePainted(true) && <OpenDialog {...props} />;

function OpenDialog(props: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // The button that loses nothing gets the focus, else the first field, or the first button but the one
    // that closes the dialog.
    const first = shown?.querySelector<HTMLElement>('[data-safe]');
    (first ?? shown?.querySelector<HTMLElement>('input, select, textarea, form button, .button'))?.focus();
    return () => shown?.close();
  }, []);
  // Closing restyles the whole page as well, so the dialog is hidden first.
  const close = () => {
    dialog.current?.setAttribute('data-leaving', '');
    afterPaint(() => {
      dialog.current?.removeAttribute('data-leaving');
      props.onClose();
    });
  };
  // Typed content is not discarded by a key or a click beside the dialog.
  const leave = () => !props.isShownOnce && dialog.current && leaving.askIn(dialog.current, close);
  // A second Escape closes a dialog whatever `cancel` says, unless the key itself is taken (HTML, 6.13: close
  // watchers).
  const keepOpen = (event: KeyboardEvent) => event.key === 'Escape' && event.preventDefault();
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard closes it with Escape
    <dialog
      ref={dialog}
      aria-labelledby={id}
      {...(props.isShownOnce && { onKeyDown: keepOpen, closedby: 'none' })}
      onCancel={(event) => {
        event.preventDefault();
        leave();
      }}
      onClose={props.onClose}
      onClick={({ target, currentTarget }) => target === currentTarget && leave()}
      className={`dialog ${props.width ?? 'max-w-md'}`}
    >
      <div className="grid gap-4 p-5">
        <div className="flex items-start gap-3">
          <h2 id={id} className="min-w-0 flex-1 text-heading font-semibold break-words">
            {props.title}
          </h2>
          {!props.isShownOnce && (
            <IconButton label="Close" className="-mt-1 -mr-1.5" onClick={leave}>
              {icons.Close}
            </IconButton>
          )}
        </div>
        {props.children}
      </div>
    </dialog>
  );
}
