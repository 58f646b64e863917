import { type RefObject, useId } from 'react';
import { FieldMenu } from '../merge-fields.tsx';
import type { MergeFieldGroup } from '../message-fields.ts';
import type { TextActs, TextState } from './text-editor.tsx';
import { visualIcons } from './visual-icons.tsx';

/** The buttons of a text: bold, italic, link, lists and variables. */
export function TextTools(props: {
  readonly state: TextState;
  readonly acts: RefObject<TextActs | null>;
  readonly mayList: boolean;
  readonly fields: readonly MergeFieldGroup[];
  readonly link: RefObject<HTMLInputElement | null>;
}) {
  const { state, acts } = props;
  const id = useId();
  const button = (label: string, isOn: boolean, icon: React.ReactNode, act: () => void) => (
    <button
      type="button"
      aria-label={label}
      title={label}
      aria-pressed={isOn}
      // The text keeps its selection.
      onMouseDown={(event) => event.preventDefault()}
      onClick={act}
      className="grid size-8 place-items-center rounded-md text-dim hover:bg-hover hover:text-ink aria-pressed:bg-accent-soft aria-pressed:text-accent"
    >
      {icon}
    </button>
  );
  return (
    <div className="flex flex-wrap items-center gap-1">
      {button('Bold', state.isStrong, visualIcons.Bold, () => acts.current?.strong())}
      {button('Italic', state.isEm, visualIcons.Italic, () => acts.current?.em())}
      {props.mayList &&
        button('Bulleted list', state.list === 'ul', visualIcons.Bullets, () => acts.current?.list('ul'))}
      {props.mayList &&
        button('Numbered list', state.list === 'ol', visualIcons.Numbers, () => acts.current?.list('ol'))}
      <FieldMenu
        groups={props.fields}
        into="Text"
        className="button button-quiet"
        onPick={(liquid) => acts.current?.insert(liquid)}
      />
      <span className="flex min-w-40 flex-1 items-center gap-1.5 text-dim">
        {visualIcons.Link}
        <label htmlFor={id} className="sr-only">
          Link of the selected text
        </label>
        <input
          ref={props.link}
          id={id}
          value={state.link ?? ''}
          placeholder="Link address"
          disabled={!state.mayLink}
          onBlur={() => acts.current?.endLink()}
          autoComplete="off"
          onChange={({ target }) => acts.current?.link(target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            acts.current?.focus();
          }}
          className="field field-small"
        />
      </span>
    </div>
  );
}
