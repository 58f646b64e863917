import {
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
import { Refused } from '../api/requests.ts';
import { Button } from './button.tsx';

/** What is wrong with the fields of the form around it, by their names. */
export const Problems = createContext<ReadonlyMap<string, string>>(new Map());

/** The field that a pointer into the request leads to, or into: `/body/branding/colour` is the field `branding/colour`. */
function fieldOf(path: string, form: HTMLFormElement): string | null {
  const parts = path.replace(/^\/body\/?/, '').split('/');
  for (let length = parts.length; length > 0; length--) {
    const name = parts.slice(0, length).join('/');
    if (name !== '' && form.elements.namedItem(name) !== null) return name;
  }
  return null;
}

/** The problems that belong to fields of the form, and the words for all others. */
function sort(error: Refused, form: HTMLFormElement) {
  const atFields = new Map<string, string>();
  const others: string[] = [];
  for (const { path, message } of error.details) {
    const field = fieldOf(path, form);
    if (field === null) others.push(message);
    else atFields.set(field, message);
  }
  const isTold = atFields.size > 0 && others.length === 0;
  const words = isTold ? [] : [error.message, ...others, error.suggestion ?? ''];
  return { atFields, words: words.filter((text) => text !== '').join(' ') };
}

const NOTHING = { atFields: new Map<string, string>(), words: '' };

/** The texts of a form by the names of its fields. */
export type Fields = Readonly<Record<string, string>>;

/** A form whose answer may be a refusal: what is wrong is told at the field that it is about, and everything else beneath. */
export function Form(props: {
  readonly action: string;
  readonly look?: 'main' | 'danger' | 'plain';
  readonly onSend: (fields: Fields) => Promise<unknown>;
  readonly onRefused?: (error: Refused) => void;
  /** What stands beside the button, such as another one that cancels. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}) {
  const form = useRef<HTMLFormElement>(null);
  const [refused, setRefused] = useState<Refused | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [{ atFields, words }, setTold] = useState(NOTHING);

  // Only after rendering is it known which fields there are: a refusal may bring another one.
  useLayoutEffect(() => {
    setTold(refused && form.current ? sort(refused, form.current) : NOTHING);
  }, [refused]);
  useEffect(() => {
    if (atFields.size > 0) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [atFields]);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (isBusy) return;
    const fields = Object.fromEntries(new FormData(event.currentTarget)) as Fields;
    setBusy(true);
    setRefused(null);
    try {
      await props.onSend(fields);
    } catch (error) {
      const told = error instanceof Refused ? error : new Refused(0, (error as Error).message);
      props.onRefused?.(told);
      setRefused(told);
    } finally {
      setBusy(false);
    }
  }

  return (
    <form ref={form} noValidate onSubmit={(event) => void submit(event)} className="grid gap-4">
      <Problems value={atFields}>{props.children}</Problems>
      {words !== '' && <Problem>{words}</Problem>}
      <div
        className={
          props.aside === undefined
            ? 'grid [#content_&]:justify-items-start'
            : 'flex flex-wrap justify-end gap-2'
        }
      >
        {props.aside}
        <Button type="submit" look={props.look ?? 'main'} aria-disabled={isBusy}>
          {isBusy ? 'One moment…' : props.action}
        </Button>
      </div>
    </form>
  );
}

/** What every field has. */
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
export const Field = ({ label, name, hint, ...input }: FieldShape & Input) => (
  <Labelled label={label} name={name} hint={hint}>
    {(attributes) => <input spellCheck={false} autoComplete="off" {...input} {...attributes} />}
  </Labelled>
);

/** Text of several lines. */
export const TextArea = ({
  rows = 4,
  defaultValue,
  placeholder,
  ...shape
}: FieldShape & { readonly rows?: number } & Pick<Input, 'placeholder' | 'defaultValue'>) => (
  <Labelled {...shape}>
    {(attributes) => (
      <textarea rows={rows} placeholder={placeholder} defaultValue={defaultValue} {...attributes} />
    )}
  </Labelled>
);

/** One of several values: their texts by what is sent. */
export const Choice = ({
  options,
  defaultValue,
  onChange,
  ...shape
}: FieldShape & {
  readonly options: Fields;
  readonly defaultValue?: string;
  readonly onChange?: (value: string) => void;
}) => (
  <Labelled {...shape}>
    {(attributes) => (
      <select defaultValue={defaultValue} onChange={({ target }) => onChange?.(target.value)} {...attributes}>
        {Object.entries(options).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Labelled>
);

/** Yes or no; in a form it is `on`, or not there. */
export function Tick({
  label,
  hint,
  ...input
}: Partial<Pick<FieldShape, 'name'>> &
  Omit<FieldShape, 'name'> &
  Pick<InputHTMLAttributes<HTMLInputElement>, 'checked' | 'defaultChecked' | 'disabled' | 'onChange'>) {
  const id = useId();
  return (
    <div className="flex gap-2.5">
      <input
        {...input}
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
