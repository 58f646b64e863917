import { useState } from 'react';
import { IconButton } from '../button.tsx';
import { icons } from '../icons.tsx';
import { toastProblem } from '../overlays/toast.tsx';

/** Copies a short text beside it, such as a DNS record or an id. */
export function CopyButton({ label, text }: { readonly label: string; readonly text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      toastProblem(
        new Error('This browser does not allow copying here. Select the text and copy it yourself.'),
      );
    }
  };
  return (
    <IconButton
      label={isCopied ? `Copied: ${label}` : `Copy: ${label}`}
      onClick={() => void copy()}
      onBlur={() => setCopied(false)}
    >
      {isCopied ? icons.Check : icons.Copy}
    </IconButton>
  );
}

export const Id = ({ id }: { readonly id: string }) => (
  <span className="-my-1.5 inline-flex max-w-full items-center gap-1">
    <span className="min-w-0 truncate font-mono text-caption">{id}</span>
    <CopyButton label={id} text={id} />
  </span>
);
