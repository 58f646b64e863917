import { type ReactNode, useEffect, useId, useRef } from 'react';
import { Close } from '../../../icons.tsx';
import { leaving } from '../../editing/leaving.ts';
import { IconButton } from '../button.tsx';
import { afterPaint, usePainted } from '../charts/painted.ts';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Tailwind's width of it; `max-w-md` by default. */
  readonly width?: string;
}

/**
 * A dialog above the page, which Escape closes. It is there as long as it is rendered. It opens behind the answer to the click: a page
 * that can do nothing any more is styled anew as a whole.
 */
export const Dialog = (props: DialogProps) => usePainted(true) && <OpenDialog {...props} />;

function OpenDialog(props: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // What is to be filled in first, or the way back; not the button that closes it.
    shown?.querySelector<HTMLElement>('input, select, textarea, form button, .button')?.focus();
    return () => shown?.close();
  }, []);
  // Closing styles the page anew as well: it is gone from sight first.
  const close = () => {
    dialog.current?.setAttribute('data-leaving', '');
    afterPaint(() => {
      dialog.current?.removeAttribute('data-leaving');
      props.onClose();
    });
  };
  // What was typed in it is not thrown away by a key or a click beside it.
  const leave = () => dialog.current && leaving.askIn(dialog.current, close);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard closes it with Escape
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        leave();
      }}
      onClose={props.onClose}
      onClick={({ target, currentTarget }) => target === currentTarget && leave()}
      className={`dialog ${props.width ?? 'max-w-md'}`}
    >
      <div className="grid gap-4 p-5">
        <header className="flex items-start gap-3">
          <h2 id={id} className="min-w-0 flex-1 text-heading font-semibold break-words">
            {props.title}
          </h2>
          <IconButton label="Close" className="-mt-1 -mr-1.5" onClick={leave}>
            <Close />
          </IconButton>
        </header>
        {props.children}
      </div>
    </dialog>
  );
}
