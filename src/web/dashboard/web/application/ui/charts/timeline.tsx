import type { ReactNode } from 'react';
import type { Tone } from '../display/event-looks.ts';
import { momentText, momentTitle } from '../display/format.ts';
import { Time } from '../display/time.tsx';

/** Something that happened. */
export interface Moment {
  readonly key: string;
  readonly what: ReactNode;
  readonly at: string;
  readonly tone: Tone;
  readonly more?: ReactNode;
}

/** Moments in their given order, each with its distance from now, or to the second. */
export const Timeline = ({
  label,
  moments,
  isExact = false,
}: {
  readonly label: string;
  readonly moments: readonly Moment[];
  readonly isExact?: boolean;
}) => (
  <ol aria-label={label} className="grid">
    {moments.map(({ key, what, at, tone, more }, index) => (
      <li key={key} data-color={tone} className="grid grid-cols-[16px_minmax(0,1fr)] gap-x-3">
        <span aria-hidden="true" className="grid grid-rows-[20px_1fr] justify-items-center">
          <span className="m-auto size-2.5 rounded-full bg-(--state)" />
          {index < moments.length - 1 && <span className="w-px bg-edge-strong" />}
        </span>
        <div className="pb-4">
          <div className="flex flex-wrap justify-between gap-x-3">
            <span className="min-w-0 font-medium break-words">{what}</span>
            <span className="text-caption text-dim">
              {isExact ? (
                <time dateTime={at} title={momentTitle(at)} className="num">
                  {momentText(at)}
                </time>
              ) : (
                <Time at={at} />
              )}
            </span>
          </div>
          {more !== undefined && more !== null && (
            <div className="mt-0.5 text-caption break-words text-dim">{more}</div>
          )}
        </div>
      </li>
    ))}
  </ol>
);
