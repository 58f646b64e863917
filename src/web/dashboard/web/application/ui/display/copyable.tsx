import { useRef, useState } from 'react';
import { icons } from '../icons.tsx';

/** A whole message may be 25 MB, which no page shows. */
const MOST_SHOWN = 100_000;

/**
 * A text to be copied. Where a page may not write to the clipboard (plain http), the text is selected
 * instead.
 */
export function Copyable({ label, text }: { readonly label: string; readonly text: string }) {
  const shown = useRef<HTMLPreElement>(null);
  const [told, setTold] = useState('');

  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      setTold('Copied');
    } catch {
      if (shown.current) getSelection()?.selectAllChildren(shown.current);
      setTold('Selected. Copy it with your keyboard.');
    }
  }

  return (
    <div className="min-w-0">
      <div className="mb-1 flex items-center justify-between gap-3">
        <span className="font-medium">{label}</span>
        <span className="flex items-center gap-2">
          <span role="status" className="text-[12px] text-dim">
            {told}
          </span>
          <button
            type="button"
            className="button"
            aria-label={`Copy: ${label}`}
            onClick={() => void copy()}
            onBlur={() => setTold('')}
          >
            {told === 'Copied' ? icons.Check : icons.Copy}
          </button>
        </span>
      </div>
      <pre
        ref={shown}
        className="rounded-lg border border-edge bg-sunk p-3 font-mono text-caption break-all whitespace-pre-wrap"
      >
        {text.length > MOST_SHOWN
          ? `${text.slice(0, MOST_SHOWN)}\n… truncated; the button copies all of it`
          : text}
      </pre>
    </div>
  );
}
