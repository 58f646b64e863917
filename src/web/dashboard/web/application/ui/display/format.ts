import { shownAt, shownZone, zoneLabel } from './clock.ts';

// By hand, and not by Intl: the first formatter of each kind takes 10 to 20 ms to be there, four times that
// on a slow computer.

/** `12,345` of a whole number. */
export const count = (value: number): string => String(value).replace(/\B(?=(?:\d{3})+$)/g, ',');
const SIZES = [
  ['T', 1e12],
  ['B', 1e9],
  ['M', 1e6],
  ['K', 1e3],
  ['', 1],
] as const;
const grouped = (value: number): string => String(value).replace(/^\d+/, (whole) => count(Number(whole)));
const threeDigits = (value: number): number => Number(value.toPrecision(3));

/** `12.3K` from ten thousand on, or from another number. */
export function roundCount(value: number, from = 10_000): string {
  if (value < from) return count(value);
  const rounded = threeDigits(value);
  const [letter, size] = SIZES.find(([, size]) => rounded >= size) ?? ['', 1];
  return grouped(threeDigits(rounded / size)) + letter;
}
const percent = (part: number): string => `${grouped(Math.round(part * 10_000) / 100)}%`;
/** Of a part and a total: `97.5%`; `–` for a total of 0. */
export const share = (part: number, of: number): string => (of === 0 ? '–' : percent(part / of));
/** Of a rate from 0 to 1: `97.5%`; `–` where there is none. */
export const rateText = (rate: number | null): string => (rate === null ? '–' : percent(rate));
/** `Subject, Text and HTML` */
export const listText = (names: readonly string[]): string =>
  [...(names.length > 1 ? [names.slice(0, -1).join(', ')] : []), ...names.slice(-1)].join(' and ');
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
const two = (value: number): string => String(value).padStart(2, '0');
const shortDay = (shown: Date): string => `${MONTHS[shown.getUTCMonth()]} ${shown.getUTCDate()}`;
const fullDay = (shown: Date): string => `${shortDay(shown)}, ${shown.getUTCFullYear()}`;

/** `Nov 22, 2026, 11:18:40 AM CET`, by the clock of the workspace. */
export function momentText(at: string): string {
  const ms = Date.parse(at);
  const shown = shownAt(ms);
  const hours = shown.getUTCHours();
  const time = `${hours % 12 || 12}:${two(shown.getUTCMinutes())}:${two(shown.getUTCSeconds())}`;
  return `${fullDay(shown)}, ${time} ${hours < 12 ? 'AM' : 'PM'} ${zoneLabel(ms)}`;
}
/** The same with the name of the zone, for what is shown beside the pointer. */
export const momentTitle = (at: string): string => `${momentText(at)} (${shownZone()})`;
/** `Nov 22, 2026` */
export const dayText = (at: string): string => fullDay(shownAt(Date.parse(at)));
/** `Nov 22` of `2026-11-22T00:00`, or `Sun 14:00` of a local time at the start of an hour. */
export function intervalText(local: string, interval: 'hour' | 'day'): string {
  const shown = new Date(`${local}Z`);
  return interval === 'day' ? shortDay(shown) : `${WEEKDAYS[shown.getUTCDay()]} ${local.slice(11, 16)}`;
}
/** `API key` of `apiKey`, `delivered` of `delivered`. */
export const wordsOf = (name: string): string =>
  name
    .replace(/[_.]/g, ' ')
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .trim()
    .replace(/^api\b/, 'API');
/** `Delivered` */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `22:48:36.953 CET`, with the day where it is another one than today. */
export function timeText(at: number, now = Date.now()): string {
  const [day = '', time = ''] = shownAt(at).toISOString().replace('Z', '').split('T');
  const timeOfDay = `${time} ${zoneLabel(at)}`;
  return shownAt(now).toISOString().startsWith(day) ? timeOfDay : `${day} ${timeOfDay}`;
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;
const SECOND = ['second', 1_000] as const;

/** `2h 5m`, `12s`, `40 ms`: two units at most. */
export function spanText(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const units = [...UNITS, SECOND];
  const first = units.findIndex(([, size]) => ms >= size);
  const [unit, size] = units[first] ?? SECOND;
  const next = units[first + 1];
  const rest = next ? Math.floor((ms % size) / next[1]) : 0;
  return `${Math.floor(ms / size)}${unit[0]}${next && rest > 0 ? ` ${rest}${next[0][0]}` : ''}`;
}

/** `3m ago`, where there is little room. */
export const shortAgo = (at: number, now: number): string =>
  now - at < 1_000 ? 'just now' : `${spanText(Math.floor((now - at) / 1_000) * 1_000).split(' ')[0]} ago`;

/**
 * `5 minutes ago`, `in 1 hour`, `yesterday`: the words of Intl.RelativeTimeFormat, which would take time to
 * create.
 */
function relative(amount: number, unit: 'day' | 'hour' | 'minute'): string {
  if (unit === 'day' && Math.abs(amount) === 1) return amount < 0 ? 'yesterday' : 'tomorrow';
  const words = `${Math.abs(amount)} ${unit}${Math.abs(amount) === 1 ? '' : 's'}`;
  return amount < 0 ? `${words} ago` : `in ${words}`;
}

/** `5 minutes ago`, `in 2 hours`; the day once it is a week away. */
export function agoText(at: string, now = Date.now()): string {
  const distance = Date.parse(at) - now;
  if (Math.abs(distance) > 7 * UNITS[0][1])
    return shownAt(Date.parse(at)).getUTCFullYear() === shownAt(now).getUTCFullYear()
      ? shortDay(shownAt(Date.parse(at)))
      : dayText(at);
  const [unit, size] = UNITS.find(([, size]) => Math.abs(distance) >= size) ?? [null, 1];
  if (unit !== null) return relative(Math.trunc(distance / size), unit);
  return distance > 0 ? 'in a moment' : 'just now';
}

/** `512 B`, `12.4 kB`, `3.1 MB` */
export function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** The most labels beneath a chart. */
const MOST_TICKS = 5;

/** Points at even distances, the first and the last among them. */
export function ticksOf<Each>(points: readonly Each[]): readonly Each[] {
  const number = Math.min(points.length, MOST_TICKS);
  if (number < 2) return points.slice(0, number);
  return Array.from(
    { length: number },
    (_, index) => points[Math.round((index * (points.length - 1)) / (number - 1))] as Each,
  );
}
