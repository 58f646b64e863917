import { useEffect, useSyncExternalStore } from 'react';
import { Button, IconButton } from '../button.tsx';
import { icons } from '../icons.tsx';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isProblem: boolean;
  readonly undo: (() => Promise<unknown>) | null;
}

/** Long enough to read it and to reach its button; it stays while the pointer or the focus is on it. */
const SHOWN_MS = 8_000;
const MOST = 3;

let toasts: readonly Toast[] = [];
let latest = 0;
const listeners = new Set<() => void>();
function change(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}
const dismiss = (id: number): void => change(toasts.filter((each) => each.id !== id));

/**
 * Reports a result in a corner of the page. With `undo`, it has a button that reverts the action. A new toast
 * removes earlier errors, which would contradict it.
 */
export function toast(text: string, undo: (() => Promise<unknown>) | null = null): void {
  const done = toasts.filter(({ isProblem }) => !isProblem);
  change([...done, { id: ++latest, text, undo, isProblem: false }].slice(-MOST));
}

/** Tells that something did not work that was done without a form. */
export function toastProblem(error: unknown): void {
  const text = (error as Error).message;
  change([...toasts, { id: ++latest, text, undo: null, isProblem: true }].slice(-MOST));
}

/** The corner where toasts are shown. */
export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <section
      aria-label="Messages"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-4 bottom-4 z-40 grid justify-items-center gap-2 sm:right-6 sm:left-auto sm:justify-items-end"
    >
      {shown.map((each) => (
        <Message key={each.id} toast={each} />
      ))}
    </section>
  );
}

function Message({ toast: { id, text, undo, isProblem } }: { readonly toast: Toast }) {
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.querySelector(`[data-toast="${id}"]:is(:hover,:focus-within)`)) dismiss(id);
    }, SHOWN_MS);
    return () => clearInterval(timer);
  }, [id]);
  return (
    <div data-toast={id} data-color={isProblem ? 'bad' : 'good'} className="toast pointer-events-auto">
      <span aria-hidden="true" className="size-2 shrink-0 rounded-full bg-(--state)" />
      <p className="min-w-0 flex-1 break-words">{text}</p>
      {undo && (
        <Button
          look="quiet"
          onClick={() => {
            dismiss(id);
            undo().catch(toastProblem);
          }}
        >
          Undo
        </Button>
      )}
      <IconButton label="Dismiss" onClick={() => dismiss(id)}>
        {icons.Close}
      </IconButton>
    </div>
  );
}
