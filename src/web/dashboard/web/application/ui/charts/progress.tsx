import type { Tone } from '../display/event-looks.ts';

/** One part of a bar: how much of it, and what it means. */
export interface Part {
  readonly name: string;
  readonly value: number;
  readonly tone: Tone;
}

/** A progress bar, from 0 to 1. */
export const Progress = ({ label, value }: { readonly label: string; readonly value: number }) => (
  <div
    role="progressbar"
    aria-label={label}
    aria-valuemin={0}
    aria-valuemax={100}
    aria-valuenow={Math.floor(value * 100)}
    className="h-2 overflow-hidden rounded-full bg-hover"
  >
    <div
      className="h-full rounded-full bg-accent transition-[width] duration-300"
      style={{ width: `${value * 100}%` }}
    />
  </div>
);

/** A whole and its parts, side by side in one bar. The numbers stand elsewhere as text. */
export const PartsBar = ({ parts, total }: { readonly parts: readonly Part[]; readonly total: number }) => (
  <div aria-hidden="true" className="flex h-3 gap-px overflow-hidden rounded-full bg-hover">
    {parts
      .filter(({ value }) => value > 0)
      .map(({ name, value, tone }) => (
        <div
          key={name}
          data-color={tone}
          className="h-full min-w-0.5 bg-(--state) transition-[width] duration-300"
          style={{ width: `${(value / Math.max(total, 1)) * 100}%` }}
        />
      ))}
  </div>
);
