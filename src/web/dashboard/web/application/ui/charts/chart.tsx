import { useId, useState } from 'react';
import { count, roundCount, ticksOf } from '../display/format.ts';

/** One point of a series. */
export interface Point {
  readonly key: string;
  /** The unit that a value belongs to, such as a day. */
  readonly label: string;
  readonly value: number;
  /** True while it still grows. */
  readonly isOpen: boolean;
}

/** The next round number at or above: the top of the scale. */
function roundUp(value: number): number {
  if (value <= 4) return 4;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 4, 5, 8, 10].find((each) => each * power >= value) ?? 10;
  return step * power;
}

/**
 * Numbers over time as columns. The column under the pointer, or chosen with the arrow keys, is described
 * beneath; a table that opens holds all of them.
 */
export function Chart({ title, points }: { readonly title: string; readonly points: readonly Point[] }) {
  const id = useId();
  const [chosen, setChosen] = useState<number | null>(null);
  const most = roundUp(Math.max(...points.map(({ value }) => value), 0));
  const shown = points[Math.min(chosen ?? points.length - 1, points.length - 1)];
  const step = 100 / Math.max(points.length, 1);
  const gap = points.length > 120 ? 0.1 : 0.25;
  return (
    <figure className="grid gap-2">
      <div className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2">
        <div
          aria-hidden="true"
          className="num flex flex-col justify-between text-right text-caption leading-none text-faint"
        >
          <span>{roundCount(most)}</span>
          <span>{roundCount(most / 2)}</span>
          <span>0</span>
        </div>
        <div className="relative h-56">
          <div aria-hidden="true" className="absolute inset-0 flex flex-col justify-between">
            <span className="border-t border-edge" />
            <span className="border-t border-edge" />
            <span className="border-t border-edge-strong" />
          </div>
          <svg
            aria-hidden="true"
            viewBox="0 0 100 100"
            preserveAspectRatio="none"
            className="absolute inset-0 size-full"
            onPointerLeave={() => setChosen(null)}
          >
            {points.map(({ key, value, isOpen }, index) => (
              <g key={key} onPointerEnter={() => setChosen(index)}>
                <rect x={index * step} width={step} height={100} fill="transparent" />
                <rect
                  x={(index + gap / 2) * step}
                  y={100 - (value / most) * 100}
                  width={step * (1 - gap)}
                  height={(value / most) * 100}
                  fill="var(--color-accent)"
                  opacity={chosen === index ? 1 : isOpen ? 0.4 : 0.75}
                />
              </g>
            ))}
          </svg>
          <input
            type="range"
            aria-label={`${title}: choose a point`}
            aria-valuetext={shown && `${shown.label}: ${count(shown.value)}`}
            min={0}
            max={Math.max(points.length - 1, 0)}
            value={chosen ?? points.length - 1}
            onChange={({ target }) => setChosen(Number(target.value))}
            onBlur={() => setChosen(null)}
            className="pointer-events-none absolute inset-0 h-full w-full cursor-default appearance-none bg-transparent opacity-0 focus-visible:opacity-100 [&::-webkit-slider-thumb]:opacity-0"
          />
        </div>
        <div aria-hidden="true" className="col-start-2 mt-1.5 flex justify-between text-caption text-faint">
          {ticksOf(points).map(({ key, label }, index, ticks) => (
            <span
              key={key}
              className={
                index > 0 && index < ticks.length - 1 && index % 2 === 1 ? 'not-sm:hidden' : undefined
              }
            >
              {label}
            </span>
          ))}
        </div>
      </div>
      <figcaption className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
        <span className="num">
          {shown && (
            <>
              <span className="text-dim">{shown.label}: </span>
              <strong>{count(shown.value)}</strong>
              {shown.isOpen && <span className="text-dim">, in progress</span>}
            </>
          )}
        </span>
        <details className="w-full">
          <summary className="w-max cursor-pointer text-caption text-dim hover:text-ink">
            Show as table
          </summary>
          <div className="mt-2 max-h-72 overflow-y-auto rounded-lg border border-edge">
            <table aria-labelledby={id} className="w-full text-left">
              <caption id={id} className="sr-only">
                {title}
              </caption>
              <tbody>
                {points.map(({ key, label, value }) => (
                  <tr key={key} className="border-b border-edge last:border-0">
                    <th scope="row" className="px-3 py-1 font-normal text-dim">
                      {label}
                    </th>
                    <td className="num px-3 py-1 text-right">{count(value)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      </figcaption>
    </figure>
  );
}
