import {
  type ChangeEvent,
  createContext,
  type FormEvent,
  type InputHTMLAttributes,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { RequestError } from '../../api/requests.ts';
import { EditingNotes, SaveState } from '../../editing/editing-notes.tsx';
import { useFormGuard } from '../../editing/form-guard.ts';
import type { ShownEditing } from '../../editing/use-editing.ts';
import { Button } from '../button.tsx';
import { Edited, useEdited, useText } from './edited-field.ts';
import { sortProblems } from './form-problems.ts';
import { ENGLISH, type OwnFormWords } from './form-words.ts';

/** The problems of the surrounding form's fields, by name. */
export const Problems = createContext<ReadonlyMap<string, string>>(new Map());

export const FormWords = createContext<OwnFormWords>(ENGLISH);

const NOTHING = { atFields: new Map<string, string>(), words: '' };

/** The texts of a form by the names of its fields. */
export type Fields = Readonly<Record<string, string>>;

/** A form whose answer may be a refusal: each problem is shown at its field, and the others at the end. */
export function Form(props: {
  readonly action: string;
  readonly look?: 'main' | 'danger' | 'plain';
  readonly onSend?: (fields: Fields) => Promise<unknown>;
  /** The edit that the form shows and saves. */
  readonly editing?: ShownEditing;
  /** It was saved. */
  readonly onSaved?: () => void;
  /** Its button stays in sight while the form is longer than the window. */
  readonly isSticky?: boolean;
  readonly onRefused?: (error: RequestError) => void;
  /** The content beside the button, such as a second button that cancels. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}) {
  const form = useRef<HTMLFormElement>(null);
  const { editing = null } = props;
  const [own, setRefused] = useState<RequestError | null>(null);
  const refused = editing ? editing.refused : own;
  const [isSending, setBusy] = useState(false);
  const isBusy = editing?.isSaving ?? isSending;
  const { working } = useContext(FormWords);
  const guard = useFormGuard(form, editing === null);
  const [{ atFields, words }, setTold] = useState(NOTHING);

  // Only after rendering is it known which fields there are: a refusal may bring another one.
  useLayoutEffect(() => {
    setTold(refused && form.current ? sortProblems(refused, form.current) : NOTHING);
  }, [refused]);
  useEffect(() => {
    if (atFields.size > 0) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [atFields]);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (isBusy) return;
    if (editing) {
      if (await editing.save()) props.onSaved?.();
      return;
    }
    const fields = Object.fromEntries(new FormData(event.currentTarget)) as Fields;
    guard.release();
    setBusy(true);
    setRefused(null);
    try {
      await props.onSend?.(fields);
      guard.sent();
    } catch (error) {
      guard.look();
      const told = error instanceof RequestError ? error : new RequestError(0, (error as Error).message);
      props.onRefused?.(told);
      setRefused(told);
    } finally {
      setBusy(false);
    }
  }

  return (
    <form
      ref={(element) => {
        form.current = element;
        if (editing) editing.frame.current = element;
      }}
      noValidate
      onInput={guard.look}
      onSubmit={(event) => void submit(event)}
      className="grid gap-4"
    >
      {editing && <EditingNotes editing={editing} />}
      <Edited value={editing}>
        <Problems value={atFields}>{props.children}</Problems>
      </Edited>
      {words !== '' && <Problem>{words}</Problem>}
      <div
        className={
          editing
            ? `flex flex-wrap items-center justify-end gap-3 [#content_&]:flex-row-reverse ${props.isSticky ? 'sticky bottom-0 z-10 -mx-5 -mb-5 rounded-b-xl border-t border-edge bg-sheet px-5 py-3' : ''}`
            : props.aside === undefined
              ? 'grid [#content_&]:justify-items-start'
              : 'flex flex-wrap justify-end gap-2'
        }
      >
        {editing && <SaveState editing={editing} />}
        {props.aside}
        <Button type="submit" look={props.look ?? 'main'} aria-disabled={isBusy}>
          {isBusy ? (editing ? 'Saving…' : working) : props.action}
        </Button>
      </div>
    </form>
  );
}

/** The properties that all fields share. */
export interface FieldShape {
  readonly label: string;
  /** The name of the member in the request; `branding/colour` for one inside another. */
  readonly name: string;
  readonly hint?: ReactNode;
}

/** The frame of a field: its label, what is to be known about it, and what is wrong with it. */
export function Labelled(props: FieldShape & { readonly children: (attributes: Attributes) => ReactNode }) {
  const id = useId();
  const problem = useContext(Problems).get(props.name);
  const words = problem ?? props.hint;
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-1.5 block font-medium">
        {props.label}
      </label>
      {props.children({
        id,
        name: props.name,
        'aria-invalid': problem !== undefined,
        'aria-describedby': `${id}-hint`,
        className: 'field',
      })}
      <p
        id={`${id}-hint`}
        data-color="bad"
        className={`text-caption ${words === undefined ? '' : 'mt-1.5'} ${problem === undefined ? 'text-dim' : 'state-text'}`}
      >
        {words}
      </p>
    </div>
  );
}

/** The problem of a form part that is not a field, such as a source editor. */
export function FieldProblem({ name }: Pick<FieldShape, 'name'>) {
  const problem = useContext(Problems).get(name);
  return (
    <>
      <input type="hidden" name={name} />
      <p role="alert" data-color="bad" className={`state-text text-caption ${problem ? 'mt-1.5' : ''}`}>
        {problem}
      </p>
    </>
  );
}

interface Attributes {
  readonly id: string;
  readonly name: string;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby': string;
  readonly className: string;
}

type Input = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  | 'type'
  | 'autoComplete'
  | 'inputMode'
  | 'defaultValue'
  | 'placeholder'
  | 'autoFocus'
  | 'min'
  | 'max'
  | 'readOnly'
>;

/** A line of text. */
export function Field({ label, name, hint, defaultValue, ...input }: FieldShape & Input) {
  const text = useText(name, defaultValue);
  return (
    <Labelled label={label} name={name} hint={hint}>
      {(attributes) => <input spellCheck={false} autoComplete="off" {...input} {...text} {...attributes} />}
    </Labelled>
  );
}

/** Text of several lines. */
export function TextArea({
  rows = 4,
  defaultValue,
  placeholder,
  ...shape
}: FieldShape & { readonly rows?: number } & Pick<Input, 'placeholder' | 'defaultValue'>) {
  const text = useText(shape.name, defaultValue);
  return (
    <Labelled {...shape}>
      {(attributes) => <textarea rows={rows} placeholder={placeholder} {...text} {...attributes} />}
    </Labelled>
  );
}

/** One of several values: their texts by what is sent. */
export function Choice({
  options,
  defaultValue,
  onChange,
  ...shape
}: FieldShape & {
  readonly options: Fields;
  readonly defaultValue?: string;
  readonly onChange?: (value: string) => void;
}) {
  const edited = useEdited(shape.name);
  const chosen = edited ? { value: String(edited.value) } : { defaultValue };
  return (
    <Labelled {...shape}>
      {(attributes) => (
        <select
          {...chosen}
          onChange={({ target }) => {
            edited?.set(target.value);
            onChange?.(target.value);
          }}
          {...attributes}
        >
          {Object.entries(options).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

/** Yes or no; in a form it is `on`, or not there. */
export function Tick({
  label,
  hint,
  ...input
}: Partial<Pick<FieldShape, 'name'>> &
  Omit<FieldShape, 'name'> &
  Pick<InputHTMLAttributes<HTMLInputElement>, 'checked' | 'defaultChecked' | 'disabled' | 'onChange'>) {
  const id = useId();
  const edited = useEdited(input.name ?? '');
  return (
    <div className="flex gap-2.5">
      <input
        {...input}
        {...(edited && {
          checked: edited.value === true,
          onChange: ({ target }: ChangeEvent<HTMLInputElement>) => edited.set(target.checked),
        })}
        type="checkbox"
        id={id}
        aria-describedby={`${id}-hint`}
        className="mt-0.5 size-4 shrink-0 accent-accent"
      />
      <div>
        <label htmlFor={id} className="block">
          {label}
        </label>
        <p id={`${id}-hint`} className="text-caption text-dim">
          {hint}
        </p>
      </div>
    </div>
  );
}

/** A sentence about what went wrong, which screen readers read out. */
export const Problem = ({ children }: { readonly children: ReactNode }) => (
  <p
    role="alert"
    data-color="bad"
    className="state-text rounded-lg border border-(--state)/40 bg-(--state)/5 px-3 py-2"
  >
    {children}
  </p>
);
