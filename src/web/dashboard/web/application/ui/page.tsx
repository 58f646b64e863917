import { type ComponentProps, type ComponentType, lazy, type ReactNode } from 'react';
import { Link, Route, Switch } from 'wouter';
import { useViewer } from '../api/viewer.tsx';
import { Failed, Skeleton } from './display/states.tsx';
import { icons } from './icons.tsx';

/** A page: its title, what it is about, what can be done on it. */
export function Page(props: {
  readonly title: string;
  /** The content that replaces the text of the title, such as an address in monospace. */
  readonly heading?: ReactNode;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  /** The list that this is an item of. */
  readonly back?: { readonly to: string; readonly text: string };
  readonly children: ReactNode;
}) {
  const { workspace } = useViewer();
  return (
    <>
      <title>{`${props.title} · ${workspace.name} · Posthorn`}</title>
      <header className="flex flex-wrap items-start gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-72">
          {props.back && (
            <Link
              href={props.back.to}
              className="mb-1.5 -ml-1 inline-flex min-h-6 items-center gap-1 text-caption text-dim hover:text-ink"
            >
              <span className="[&>svg]:size-3.5">{icons.Back}</span>
              {props.back.text}
            </Link>
          )}
          <h1 className="text-title font-semibold tracking-tight break-words">
            {props.heading ?? props.title}
          </h1>
          {props.about !== undefined && <div className="mt-1 max-w-2xl text-dim">{props.about}</div>}
        </div>
        {props.actions !== undefined && (
          <div className="flex flex-wrap items-center gap-2">{props.actions}</div>
        )}
      </header>
      {props.children}
    </>
  );
}

/** A section of a page with its own title. */
export const Card = (props: {
  readonly title?: string;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}) => (
  <section
    {...(props.title !== undefined && { 'aria-label': props.title })}
    className="card grid grid-cols-1 content-start gap-4 p-5"
  >
    {props.title !== undefined && (
      <header className="flex flex-wrap items-start gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-60">
          <h2 className="text-heading font-semibold">{props.title}</h2>
          {props.about !== undefined && <p className="mt-0.5 max-w-2xl text-dim">{props.about}</p>}
        </div>
        {props.actions}
      </header>
    )}
    {props.children}
  </section>
);

/** Facts by name. Empty ones are left out. */
export const Facts = ({ facts }: { readonly facts: Readonly<Record<string, ReactNode>> }) => (
  <dl className="grid gap-x-6 gap-y-3 sm:grid-cols-[max-content_minmax(0,1fr)]">
    {Object.entries(facts)
      .filter(([, fact]) => fact !== null && fact !== undefined && fact !== '')
      .map(([name, fact]) => (
        <div key={name} className="contents">
          <dt className="text-dim not-sm:-mb-2.5">{name}</dt>
          <dd className="min-w-0 break-words">{fact}</dd>
        </div>
      ))}
  </dl>
);

/** A page whose data is loading, or could not be loaded. */
export const PendingPage = ({
  title,
  back,
  error,
  onRetry,
}: Required<Pick<ComponentProps<typeof Page>, 'title' | 'back'>> & {
  readonly error: Error | null;
  readonly onRetry: () => void;
}) => (
  <Page title={title} back={back}>
    {error ? <Failed error={error} onRetry={onRetry} /> : <Skeleton className="h-96 w-full" />}
  </Page>
);

/**
 * A link from the test environment to a page of live, which has its own contacts, audiences and campaigns.
 */
export function ToLive({ to, children }: { readonly to: string; readonly children: ReactNode }) {
  const { baseOf } = useViewer();
  return (
    <Link href={`~${baseOf('live')}${to}`} className="link">
      {children}
    </Link>
  );
}

/** The page of a list, and below its address the pages of its items, whose code is loaded with the first. */
export function listAndItems(
  path: string,
  List: ComponentType,
  load: () => Promise<{ readonly default: ComponentType<{ readonly id: string }> }>,
) {
  const Item = lazy(load);
  return () => (
    <Switch>
      <Route path={`${path}/:id`}>{({ id = '' }) => <Item key={id} id={id} />}</Route>
      <Route>
        <List />
      </Route>
    </Switch>
  );
}
