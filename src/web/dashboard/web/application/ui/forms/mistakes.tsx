import { count } from '../display/format.ts';

/** The errors of a file, by line. A long list scrolls. */
export const Mistakes = (props: {
  readonly mistakes: readonly { readonly line: number; readonly message: string }[];
}) => (
  <ul
    aria-label="Errors"
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls has to be reached by the keyboard
    tabIndex={0}
    className="grid max-h-80 overflow-y-auto rounded-lg border border-edge"
  >
    {props.mistakes.map(({ line, message }) => (
      <li
        key={`${line} ${message}`}
        className="grid grid-cols-[5.5rem_minmax(0,1fr)] gap-3 border-b border-edge px-3 py-2 last:border-0"
      >
        <span className="num text-dim">Line {count(line)}</span>
        <span className="break-words">{message}</span>
      </li>
    ))}
  </ul>
);
