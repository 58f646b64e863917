/**
 * Processor time an item took, in microseconds: neighbours on the same cores disturb it less than they do a
 * rate.
 */
export interface CpuPerItem {
  readonly service: number;
  /** All backends of the server together. */
  readonly postgres: number;
}

/** One line of the result. Latencies in milliseconds. */
export interface Row {
  readonly what: string;
  /** Absent where the row is no rate. */
  readonly perSecond?: number;
  /** The measured amount, where the row has no rate. */
  readonly amount?: { readonly value: number; readonly unit: 'ms' | 'MB' };
  readonly p50?: number;
  readonly p99?: number;
  /** The rate that this one is divided by, where that is not the yardstick. */
  readonly over?: { readonly what: string; readonly perSecond: number };
  /** The ratio that was aimed at. */
  readonly aim?: number;
  readonly cpu?: CpuPerItem;
}

/** The mark of the yardstick (a), to which the other rows are ratios. */
export const YARDSTICK = '(a)';

/** A rate as a ratio to what its row names, or else to the yardstick; null where there is neither. */
export function ratioOf({ perSecond, over }: Row, yardstick: number | null): number | null {
  const base = over?.perSecond ?? yardstick;
  return perSecond === undefined || base === null ? null : perSecond / base;
}

const fixed = (value: number | null | undefined, digits: number): string =>
  value === undefined || value === null ? '' : value.toFixed(digits);

const whole = (value: number): string => Math.round(value).toLocaleString('en');

const figureOf = ({ perSecond, amount }: Row): string =>
  amount ? `${whole(amount.value)} ${amount.unit}` : whole(perSecond ?? 0);

function printRatio(row: Row, yardstick: number | null): string {
  const ratio = fixed(ratioOf(row, yardstick), 2);
  return row.over ? `${ratio} of ${row.over.what}` : ratio;
}

/** One line of a short table: what, how many, and the ratio. */
export const printHeadline = (row: Row, yardstick: number | null): string =>
  `| ${row.what} | ${figureOf(row)} | ${printRatio(row, yardstick)} |`;

/** A Markdown table: rates, latencies, each rate as a ratio, and what an item costs in processor time. */
export function printTable(rows: readonly Row[], yardstick: (row: Row) => number | null): string {
  const lines = rows.map((row) => {
    const { what, p50, p99, aim, cpu } = row;
    return `| ${[
      what,
      figureOf(row),
      printRatio(row, yardstick(row)),
      fixed(aim, 2),
      fixed(p50, 1),
      fixed(p99, 1),
      // Of the yardstick there is no service.
      fixed(cpu?.service || null, 0),
      fixed(cpu?.postgres, 0),
    ].join(' | ')} |`;
  });
  return [
    '| | per second | ratio to (a) | aim | p50 ms | p99 ms | CPU µs an item: service | PostgreSQL |',
    '|---|---|---|---|---|---|---|---|',
    ...lines,
  ].join('\n');
}
