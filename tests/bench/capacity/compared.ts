import type { Compared } from '../figures.ts';

const whole = (value: number): string => Math.round(value).toLocaleString('en');
const deviation = (ratio: number): string => {
  const percent = (ratio - 1) * 100;
  return `${percent < 0 ? '−' : '+'}${Math.abs(percent).toFixed(0)} %`;
};

/** Prediction beside measurement, as a Markdown table. */
export function printCompared(compared: readonly Compared[]): string {
  const both = (predicted: number, measured: number) => `${whole(predicted)}, ${whole(measured)}`;
  const lines = compared.map(
    ({ kind, instances, connections, predicted, measured, cores, ratios }) =>
      `| ${[
        kind === 'life' ? 'whole lives' : 'accepted',
        instances,
        connections,
        cores.toFixed(2),
        whole(predicted.perSecond),
        whole(measured.perSecond),
        deviation(predicted.perSecond / measured.perSecond),
        ratios.map(deviation).join(', '),
        both(predicted.batch, measured.batch),
        both(predicted.cpu, measured.cpu),
      ].join(' | ')} |`,
  );
  return [
    '| | Instances | Connections | Cores left | Predicted a second | Measured a second | Deviation | Of each turn | Writes a commit: predicted, measured | µs an email: predicted, measured |',
    `|${' --- |'.repeat(10)}`,
    ...lines,
  ].join('\n');
}
