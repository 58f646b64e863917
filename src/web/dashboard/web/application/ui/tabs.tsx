import { Link, useLocation, useSearchParams } from 'wouter';

/**
 * Views of one resource beside each other. They are links, so the address names the current one and the back
 * button works.
 */
export function Tabs(props: {
  readonly label: string;
  /** Texts by the name in the address; the first one is shown at first. */
  readonly tabs: Readonly<Record<string, string>>;
  readonly current: string;
}) {
  const names = Object.keys(props.tabs);
  const [path] = useLocation();
  return (
    <nav
      aria-label={props.label}
      className="flex gap-5 overflow-x-auto overflow-y-hidden border-b border-edge px-0.5"
    >
      {names.map((name) => (
        <Link
          key={name}
          href={name === names[0] ? path : `${path}?tab=${name}`}
          replace
          aria-current={name === props.current ? 'page' : undefined}
          className="-mb-px border-b-2 border-transparent px-0.5 py-2 font-medium whitespace-nowrap text-dim hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink"
        >
          {props.tabs[name]}
        </Link>
      ))}
    </nav>
  );
}

/** The tab that the address names; the first one when it names none. */
export function useTab<const Name extends string>(tabs: Readonly<Record<Name, string>>): Name {
  const [search] = useSearchParams();
  const names = Object.keys(tabs) as Name[];
  const named = search.get('tab');
  return names.find((name) => name === named) ?? (names[0] as Name);
}
