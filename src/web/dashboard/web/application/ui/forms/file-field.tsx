import { useId, useState } from 'react';
import { sizeText } from '../display/format.ts';
import { icons } from '../icons.tsx';

/** Takes one file: chosen, or dropped on it. */
export function FileField(props: {
  readonly label: string;
  readonly hint: string;
  /** The accepted types, as `accept` of an input. */
  readonly accept: string;
  readonly file: File | null;
  readonly onFile: (file: File) => void;
}) {
  const id = useId();
  const [isOver, setOver] = useState(false);
  return (
    <label
      htmlFor={id}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const [file] = event.dataTransfer.files;
        if (file) props.onFile(file);
      }}
      className={`relative grid cursor-pointer justify-items-center gap-2 rounded-xl border border-dashed px-6 py-10 text-center has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent ${isOver ? 'border-accent bg-accent-soft' : 'border-edge-strong bg-sunk hover:bg-hover'}`}
    >
      <span className="grid size-10 place-items-center rounded-xl bg-accent-soft text-accent">
        {icons.Page}
      </span>
      <span className="font-medium">{props.file ? props.file.name : props.label}</span>
      <span className="text-caption text-dim">
        {props.file ? `${sizeText(props.file.size)}. Choose or drop another file to replace it.` : props.hint}
      </span>
      <input
        id={id}
        type="file"
        accept={props.accept}
        className="sr-only"
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file) props.onFile(file);
          target.value = '';
        }}
      />
    </label>
  );
}
