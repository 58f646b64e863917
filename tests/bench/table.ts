/** One line of the result. Latencies in milliseconds. */
export interface Row {
  readonly what: string;
  readonly perSecond: number;
  readonly p50?: number;
  readonly p99?: number;
}

const ms = (value: number | undefined): string => (value === undefined ? '' : value.toFixed(1));

/** A Markdown table: rates, latencies, and each rate as a ratio to the yardstick's. */
export function printTable(rows: readonly Row[], yardstick: number | null, notes: readonly string[]): string {
  const lines = rows.map(
    ({ what, perSecond, p50, p99 }) =>
      `| ${what} | ${Math.round(perSecond).toLocaleString('en')} | ${yardstick ? (perSecond / yardstick).toFixed(2) : ''} | ${ms(p50)} | ${ms(p99)} |`,
  );
  return [
    '| | per second | ratio to (a) | p50 ms | p99 ms |',
    '|---|---|---|---|---|',
    ...lines,
    '',
    ...notes,
  ].join('\n');
}
