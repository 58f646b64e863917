import { useEffect, useRef } from 'react';

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'Find an actor by its ID'],
  ['0', 'All machines'],
  ['1 … 9', 'One machine'],
  ['← →', 'Step through a life'],
  ['Home End', 'First step, latest step'],
  ['Space', 'Replay, pause'],
  ['Esc', 'Close'],
  ['t', 'Theme: system, light, dark'],
  ['?', 'Show this list'],
];

/** The keys that do something. */
export function Shortcuts({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => void dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      aria-label="Keyboard shortcuts"
      onClose={onClose}
      className="m-auto w-84 rounded-xl border border-edge bg-raised p-5 text-ink shadow-pop backdrop:bg-black/40"
    >
      <h2 className="mb-3 text-[14px] font-semibold">Keyboard shortcuts</h2>
      <dl className="space-y-2">
        {KEYS.map(([keys, what]) => (
          <div key={keys} className="flex items-baseline justify-between gap-4">
            <dt className="order-2 shrink-0 font-mono text-[12px] text-dim">{keys}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  );
}
