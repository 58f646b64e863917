import type { Machine, StateCount } from '../../live/model.ts';
import { shownAt, zoneLabel } from './clock.ts';

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const rough = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 2 });
const whole = new Intl.NumberFormat('en');

/** A count as it is shown: `≈` where it rests on a sample. */
export function countText(count: StateCount | null): string {
  if (!count) return '0';
  const text = count.count < 100_000 ? whole.format(count.count) : compact.format(count.count);
  return count.exact ? text : `≈ ${rough.format(count.count)}`;
}

export const number = (value: number): string =>
  value < 100_000 ? whole.format(value) : compact.format(value);

/** `22:48:36.953 CET`, with the day where it is another one than today. */
export function timeText(at: number, now = Date.now()): string {
  const [day = '', time = ''] = shownAt(at).toISOString().replace('Z', '').split('T');
  const told = `${time} ${zoneLabel(at)}`;
  return shownAt(now).toISOString().startsWith(day) ? told : `${day} ${told}`;
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
] as const;

/** `2h 5m`, `12s`, `40 ms`: two units at most. */
export function spanText(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const first = UNITS.findIndex(([size]) => ms >= size);
  const [size, unit] = UNITS[first] ?? UNITS[3];
  const next = UNITS[first + 1];
  const rest = next ? Math.floor((ms % size) / next[0]) : 0;
  return `${Math.floor(ms / size)}${unit}${next && rest > 0 ? ` ${rest}${next[1]}` : ''}`;
}

/** `3m ago` */
export const agoText = (at: number, now: number): string =>
  now - at < 1_000 ? 'just now' : `${spanText(Math.floor((now - at) / 1_000) * 1_000).split(' ')[0]} ago`;

/** `webhookDelivery` → `Webhook delivery`, `apiKey` → `API key` */
export const titleOf = (kind: string): string => {
  const words = kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/^api\b/, 'API');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** An id with its middle left out. */
export const shortId = (id: string): string => (id.length > 18 ? `${id.slice(0, 9)}…${id.slice(-5)}` : id);

const FIRST = ['email', 'webhookEndpoint', 'webhookDelivery', 'domain'];
const position = ({ kind }: Machine): number => (FIRST.indexOf(kind) + FIRST.length + 1) % (FIRST.length + 1);

/** The machines in reading order; unknown kinds follow in the service's order. */
export const inReadingOrder = (machines: readonly Machine[]): readonly Machine[] =>
  machines.toSorted((a, b) => position(a) - position(b));
