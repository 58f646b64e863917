import { type ReactNode, useEffect } from 'react';
import { icons } from '../../ui/icons.tsx';

/** The panel beside the diagram; beneath it where the window is narrow. */
export function Panel(props: {
  readonly label: string;
  readonly head: ReactNode;
  readonly onClose?: (() => void) | undefined;
  readonly children: ReactNode;
}) {
  const { onClose } = props;
  useEffect(() => {
    const onKey = ({ key, target }: KeyboardEvent) => {
      if (key !== 'Escape' || document.querySelector('dialog[open]')) return;
      if (target instanceof HTMLInputElement && target.type !== 'range') target.blur();
      else onClose?.();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [onClose]);
  return (
    <section
      aria-label={props.label}
      className="flex shrink-0 flex-col lg:min-h-0 border-edge bg-sheet not-lg:border-t lg:w-90 lg:border-l xl:w-100"
    >
      <div className="flex items-start gap-3 border-b border-edge px-4 py-3">
        <div className="min-w-0 flex-1">{props.head}</div>
        {onClose && (
          <button
            type="button"
            onClick={onClose}
            aria-label="Close (Escape)"
            title="Close (Escape)"
            className="-mr-1.5 grid size-7 shrink-0 place-items-center rounded-md text-dim hover:bg-hover hover:text-ink"
          >
            {icons.Close}
          </button>
        )}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard. */}
      <div className="min-h-0 lg:scroll lg:flex-1" tabIndex={0}>
        {props.children}
      </div>
    </section>
  );
}

/** The text of an empty panel. */
export const Quiet = ({ title, children }: { readonly title: string; readonly children?: ReactNode }) => (
  <div className="px-6 py-12 text-center">
    <p className="font-medium text-dim">{title}</p>
    {children !== undefined && (
      <div className="mx-auto mt-1.5 max-w-64 text-[12px] text-faint">{children}</div>
    )}
  </div>
);

/** Lines where text will be. */
export const Loading = () => (
  <div role="status" aria-label="Loading" className="grid animate-pulse grid-cols-1 gap-3 p-4">
    {[92, 70, 84, 60].map((width) => (
      <div key={width} className="h-4 rounded bg-sunk" style={{ width: `${width}%` }} />
    ))}
  </div>
);
