/** Makes something when it is first asked for. A formatter takes milliseconds to be made, which a page that opens would wait for. */
function lazily<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const compact = lazily(
  () => new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 }),
);
const percent = lazily(() => new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 2 }));
const moment = lazily(() => new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' }));
const short = lazily(() => new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' }));
const day = lazily(() => new Intl.DateTimeFormat('en', { dateStyle: 'medium' }));

/** `12,345` of a whole number. By hand: the first formatter that a page uses takes 20 ms to be there, which every list would wait for. */
export const count = (value: number): string => String(value).replace(/\B(?=(?:\d{3})+$)/g, ',');
/** `12.3K` from ten thousand on. */
export const roundCount = (value: number): string =>
  value < 10_000 ? count(value) : compact().format(value);
/** Of a part and its whole: `97.5%`; `–` of nothing. */
export const share = (part: number, of: number): string => (of === 0 ? '–' : percent().format(part / of));
/** Of a rate from 0 to 1: `97.5%`; `–` where there is none. */
export const rateText = (rate: number | null): string => (rate === null ? '–' : percent().format(rate));
/** `Nov 22, 2026, 11:18:40 AM` */
export const momentText = (at: string): string => moment().format(new Date(at));
/** `Nov 22, 2026` */
export const dayText = (at: string): string => day().format(new Date(at));
/** `API key` of `apiKey`, `delivered` of `delivered`. */
export const wordsOf = (name: string): string =>
  name
    .replace(/[_.]/g, ' ')
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .trim();
/** `Delivered` */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** `5 minutes ago`, `in 1 hour`, `yesterday`: what Intl.RelativeTimeFormat says, which would have to be made first. */
function relative(amount: number, unit: 'day' | 'hour' | 'minute'): string {
  if (unit === 'day' && Math.abs(amount) === 1) return amount < 0 ? 'yesterday' : 'tomorrow';
  const words = `${Math.abs(amount)} ${unit}${Math.abs(amount) === 1 ? '' : 's'}`;
  return amount < 0 ? `${words} ago` : `in ${words}`;
}

/** `5 minutes ago`, `in 2 hours`; the day once it is a week away. */
export function agoText(at: string, now = Date.now()): string {
  const distance = Date.parse(at) - now;
  if (Math.abs(distance) > 7 * UNITS[0][1])
    return new Date(at).getFullYear() === new Date(now).getFullYear()
      ? short().format(new Date(at))
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

/** `2026-11-22T09:00` of an instant, as a field for local times takes it. */
export function localText(at: string): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The instant of a local time; undefined for none. */
export const instantOf = (text = ''): string | undefined =>
  text === '' || Number.isNaN(Date.parse(text)) ? undefined : new Date(text).toISOString();

/** The time zone of this computer, which local times are of. */
export const ownZone = lazily(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
