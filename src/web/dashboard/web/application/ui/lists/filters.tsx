import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { Button } from '../button.tsx';
import { afterPaint } from '../charts/painted.ts';
import { icons } from '../icons.tsx';
import { SavedViews } from './saved-views.tsx';

/**
 * The filters of a list, kept in the address: they can be shared, and the back button restores them. `names`
 * are their parameters; one that is not set is the empty text. `filter` has the value and the change of one,
 * for its component.
 */
export function useFilters<const Name extends string>(names: readonly Name[]) {
  const [search, setSearch] = useSearchParams();
  const values = Object.fromEntries(names.map((name) => [name, search.get(name) ?? ''])) as Record<
    Name,
    string
  >;
  const set = (changes: Partial<Record<Name, string>>) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries(changes) as [Name, string][])
          if (value === '') next.delete(name);
          else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  const filter = (name: Name) => ({
    value: values[name],
    onChange: (value: string) => set({ [name]: value } as Partial<Record<Name, string>>),
  });
  const isSet = names.some((name) => values[name] !== '');
  const clear = () => set(Object.fromEntries(names.map((name) => [name, ''])) as Record<Name, string>);
  return { values, set, filter, isSet, clear };
}

interface FilterBarProps {
  /** The search, and the filters that are always in sight. */
  readonly children: ReactNode;
  /** Further filters, behind a button on narrow screens. */
  readonly more?: ReactNode;
  /** The texts of the filters that are set, by their names in the address: each is a chip that removes it. */
  readonly chosen?: Readonly<Record<string, string | undefined>>;
  readonly onRemove?: (name: string) => void;
  readonly isSet: boolean;
  readonly onClear: () => void;
}

/** The row of filters above a list. */
export function FilterBar(props: FilterBarProps) {
  const { more, chosen = {}, onRemove } = props;
  const [isOpen, setOpen] = useState(false);
  const set = Object.entries(chosen).filter((pair): pair is [string, string] => !!pair[1]);
  return (
    <search className="flex flex-wrap items-center gap-2">
      {props.children}
      {more !== undefined && (
        <>
          <Button className="sm:hidden" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            Filters{set.length > 0 && ` (${set.length})`}
          </Button>
          <div className={isOpen ? 'contents' : 'contents not-sm:hidden'}>{more}</div>
        </>
      )}
      {props.isSet && (
        <Button look="quiet" onClick={() => afterPaint(props.onClear)}>
          Clear
        </Button>
      )}
      <SavedViews isSet={props.isSet} />
      {set.length > 0 && onRemove && (
        <ul aria-label="Filters that are set" className="flex w-full flex-wrap gap-1.5 sm:hidden">
          {set.map(([name, text]) => (
            <li key={name}>
              <button type="button" className="chip" onClick={() => afterPaint(() => onRemove(name))}>
                {text} <span aria-hidden="true">×</span>
                <span className="sr-only">, remove</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </search>
  );
}

/** The pause after the last key before a list is searched. */
const TYPING_MS = 300;

/**
 * A text filter, applied while it is typed. One that only a whole text matches is applied when Enter is
 * pressed or the field is left. The key `/` focuses the first one of a page.
 */
export function TextFilter(props: {
  readonly label: string;
  readonly value: string;
  readonly isExact?: boolean;
  readonly onChange: (value: string) => void;
}) {
  const { isExact = false } = props;
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef(0);
  const [isTyped, setTyped] = useState(false);
  const [path] = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page starts with its own value
  useEffect(() => {
    if (input.current && document.activeElement !== input.current) input.current.value = props.value;
  }, [props.value, path]);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const apply = () => {
    window.clearTimeout(timer.current);
    setTyped(false);
    const value = input.current?.value.trim() ?? '';
    if (value !== props.value) afterPaint(() => props.onChange(value));
  };
  const type = () => {
    const isChanged = input.current?.value.trim() !== props.value;
    if (isExact) return setTyped(isChanged);
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(apply, TYPING_MS);
  };
  return (
    <form
      className="relative min-w-44 flex-1 sm:max-w-64"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        apply();
      }}
    >
      <span className="pointer-events-none absolute top-2.5 left-2.5 text-faint">{icons.Search}</span>
      <input
        ref={input}
        type="search"
        data-search
        aria-label={props.label}
        placeholder={props.label}
        defaultValue={props.value}
        onInput={type}
        onBlur={apply}
        spellCheck={false}
        className="field field-small pl-8"
      />
      {isTyped && <kbd className="kbd pointer-events-none absolute top-2 right-8">Enter</kbd>}
    </form>
  );
}

/** A filter by one of several values; the empty one is everything. */
export const ChoiceFilter = (props: {
  readonly label: string;
  readonly value: string;
  /** Texts by value. */
  readonly options: Readonly<Record<string, string>>;
  readonly onChange: (value: string) => void;
}) => (
  <select
    aria-label={props.label}
    value={props.value}
    onChange={({ target }) => props.onChange(target.value)}
    className="field field-small w-auto max-w-full sm:max-w-56"
  >
    <option value="">{props.label}: all</option>
    {Object.entries(props.options).map(([value, text]) => (
      <option key={value} value={value}>
        {text}
      </option>
    ))}
  </select>
);

/** The periods that lists are narrowed to: days back from now. */
const PERIODS = { '1': 'Last day', '7': 'Last 7 days', '30': 'Last 30 days' } as const;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/**
 * The start of such a period, at a full minute, so that two reads within it send the same query; undefined
 * for none.
 */
export const sinceDays = (days: string): string | undefined =>
  days in PERIODS
    ? new Date(Math.floor((Date.now() - Number(days) * DAY_MS) / MINUTE_MS) * MINUTE_MS).toISOString()
    : undefined;

/** A period in words; undefined for none. */
export const periodText = (days: string): string | undefined => PERIODS[days as keyof typeof PERIODS];

/** A filter by how long ago something was. */
export const PeriodFilter = (props: {
  readonly value: string;
  readonly onChange: (days: string) => void;
}) => <ChoiceFilter label="Period" options={PERIODS} {...props} />;

/** The filter of a list that has one choice alone: what the address names of it, and the bar that sets it. */
export function useOneChoice<Value extends string>(
  name: string,
  label: string,
  options: Readonly<Record<Value, string>>,
) {
  const { values, filter, isSet, clear } = useFilters([name]);
  const named = values[name] ?? '';
  const chosen = named in options ? (named as Value) : undefined;
  const bar = (
    <FilterBar isSet={isSet} onClear={clear}>
      <ChoiceFilter label={label} options={options} {...filter(name)} value={chosen ?? ''} />
    </FilterBar>
  );
  return { chosen, isSet, bar };
}
