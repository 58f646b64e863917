import { type ReactNode, startTransition, useEffect, useState } from 'react';
import { RequestError } from '../../api/requests.ts';
import { Button } from '../button.tsx';

/** A grey placeholder of loading content, in the size of that content. */
export const Skeleton = ({ className = 'h-4 w-32' }: { readonly className?: string }) => (
  <span aria-hidden="true" className={`skeleton block rounded-md ${className}`} />
);

/** An empty state: the items that appear here, and the way to create the first one. */
export const Empty = (props: {
  readonly title: string;
  readonly icon?: ReactNode;
  readonly children: ReactNode;
  readonly action?: ReactNode;
}) => (
  <div className="card grid justify-items-center gap-3 px-6 py-12 text-center">
    {props.icon !== undefined && (
      <span className="grid size-10 place-items-center rounded-xl bg-accent-soft text-accent">
        {props.icon}
      </span>
    )}
    <h2 className="text-heading font-semibold">{props.title}</h2>
    <div className="grid max-w-lg gap-3 text-dim">{props.children}</div>
    {props.action !== undefined && (
      <div className="mt-1 flex flex-wrap justify-center gap-2">{props.action}</div>
    )}
  </div>
);

/** The error of data that could not be read, with a retry. */
export const Failed = ({ error, onRetry }: { readonly error: Error; readonly onRetry?: () => void }) => (
  <div role="alert" className="card grid justify-items-start gap-2 p-5">
    <p className="font-medium">{error.message}</p>
    {error instanceof RequestError && error.suggestion !== null && (
      <p className="text-dim">{error.suggestion}</p>
    )}
    {onRetry && <Button onClick={onRetry}>Try again</Button>}
  </div>
);

/**
 * Draws what is inside once the rest of the page has been seen, in pieces between which the browser takes
 * input. `instead` takes its room until then.
 */
export function Later(props: { readonly instead: ReactNode; readonly children: ReactNode }) {
  const [isTime, setTime] = useState(false);
  useEffect(() => startTransition(() => setTime(true)), []);
  return isTime ? props.children : props.instead;
}
