import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Tone } from '../display/event-looks.ts';

/** A number with its name. */
export interface Figure {
  readonly name: string;
  readonly value: ReactNode;
  /** A smaller text beneath, such as a rate. */
  readonly sub?: ReactNode;
  readonly tone?: Tone;
  /** The page that lists the counted things. */
  readonly to?: string;
}

/** Numbers side by side. */
export const Figures = ({ figures }: { readonly figures: readonly Figure[] }) => (
  <dl className="grid grid-cols-[repeat(auto-fit,minmax(6.5rem,1fr))] gap-x-4 gap-y-5">
    {figures.map(({ name, value, sub, tone, to }) => (
      <div key={name} {...(tone && { 'data-color': tone })} className="grid content-start gap-0.5">
        <dt className="flex items-center gap-1.5 text-caption text-dim">
          {tone && <span aria-hidden="true" className="size-2 rounded-full bg-(--state)" />}
          {name}
        </dt>
        <dd className="num text-figure font-semibold tracking-tight">
          {to === undefined ? (
            value
          ) : (
            <Link href={to} className="hover:underline">
              {value}
            </Link>
          )}
        </dd>
        {sub !== undefined && <dd className="num text-caption text-dim">{sub}</dd>}
      </div>
    ))}
  </dl>
);

/** In place of a number that nothing counts. */
export const NotCounted = () => (
  <Link href="/domains" title="Turn on tracking for the domain" className="text-heading text-dim underline">
    Not counted
  </Link>
);
