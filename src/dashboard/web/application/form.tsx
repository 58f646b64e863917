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
import { Refused } from './requests.ts';

const Problems = createContext<ReadonlyMap<string, string>>(new Map());

/** The name of a field, by the pointer to it in the request. */
const fieldOf = (path: string): string => path.replace(/^\/body\//, '').split('/')[0] ?? '';

/** The problems that belong to fields of the form, and the words for all others. */
function sort(error: Refused, form: HTMLFormElement) {
  const atFields = new Map<string, string>();
  const others: string[] = [];
  for (const { path, message } of error.details) {
    const field = fieldOf(path);
    if (form.elements.namedItem(field) === null) others.push(message);
    else atFields.set(field, message);
  }
  const isTold = atFields.size > 0 && others.length === 0;
  const words = isTold ? [] : [error.message, ...others, error.suggestion ?? ''];
  return { atFields, words: words.filter((text) => text !== '').join(' ') };
}

const NOTHING = { atFields: new Map<string, string>(), words: '' };

/** A form whose answer may be a refusal: what is wrong is told at the field that it is about, and everything else beneath. */
export function Form(props: {
  readonly action: string;
  readonly onSend: (fields: Record<string, string>) => Promise<void>;
  readonly onRefused?: (error: Refused) => void;
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
    const fields = Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>;
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
      <button type="submit" aria-disabled={isBusy} className="button button-main min-h-10">
        {isBusy ? 'One moment…' : props.action}
      </button>
    </form>
  );
}

/** One field with its label, what is to be known about it, and what is wrong with it. */
export function Field({
  label,
  hint,
  ...input
}: { readonly label: string; readonly name: string; readonly hint?: ReactNode } & Pick<
  InputHTMLAttributes<HTMLInputElement>,
  'type' | 'autoComplete' | 'inputMode'
>) {
  const id = useId();
  const problem = useContext(Problems).get(input.name);
  return (
    <div>
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      <input
        {...input}
        id={id}
        spellCheck={false}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-hint`}
        className="field"
      />
      <p
        id={`${id}-hint`}
        data-color="bad"
        className={problem === undefined ? 'mt-1 text-[12px] text-dim' : 'state-text mt-1 text-[13px]'}
      >
        {problem ?? hint}
      </p>
    </div>
  );
}

/** A sentence about what went wrong, which screen readers read out. */
export const Problem = ({ children }: { readonly children: ReactNode }) => (
  <p role="alert" data-color="bad" className="state-text rounded-lg border border-(--state)/40 px-3 py-2">
    {children}
  </p>
);
