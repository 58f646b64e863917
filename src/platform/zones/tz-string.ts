// The TZ variable of POSIX as RFC 9636, 3.3.1 has it: `CET-1CEST,M3.5.0,M10.5.0/3`. Offsets count west of
// UTC.

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

/** A change of the clocks: what is counted from `at` on. */
interface Change {
  readonly at: number;
  readonly offset: number;
  readonly abbreviation: string;
}

const NAME = '(<[^>]+>|[A-Za-z]+)';
const TIME = '[+-]?\\d+(?::\\d+){0,2}';
const RULE = `((?:M\\d+\\.\\d+\\.\\d+|J?\\d+)(?:/${TIME})?)`;
const FORM = new RegExp(`^${NAME}(${TIME})(?:${NAME}(${TIME})?,${RULE},${RULE})?$`);

const HOUR_S = 3_600;

/** Seconds of `h`, `h:m` or `h:m:s`. */
function secondsOf(text: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = text.replace(/^[+-]/, '').split(':').map(Number);
  return (text.startsWith('-') ? -1 : 1) * (hours * HOUR_S + minutes * 60 + seconds);
}

const wordOf = (text = ''): string => text.replace(/^<|>$/g, '');

/** The local time of a rule in a year, as a clock of UTC would show it. */
function localIn(year: number, rule: string): number {
  const [day = '', time = '2'] = rule.split('/');
  return dayIn(year, day) + secondsOf(time) * SECOND_MS;
}

function dayIn(year: number, day: string): number {
  const january = Date.UTC(year, 0);
  if (day.startsWith('M')) {
    const [month = 1, week = 1, weekday = 0] = day.slice(1).split('.').map(Number);
    const first = Date.UTC(year, month - 1);
    const days = (weekday - new Date(first).getUTCDay() + 7) % 7;
    const found = first + (days + 7 * (week - 1)) * DAY_MS;
    // The fifth one is the last one.
    return found < Date.UTC(year, month) ? found : found - 7 * DAY_MS;
  }
  if (!day.startsWith('J')) return january + Number(day) * DAY_MS;
  // `J60` is 1 March, in every year.
  const isLeap = new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1;
  const number = Number(day.slice(1));
  return january + (number - 1 + (isLeap && number >= 60 ? 1 : 0)) * DAY_MS;
}

/**
 * The changes that such a rule makes after the last stated one, up to a moment. A rule that is empty, or
 * without summer time, makes none after that: the last count continues.
 */
export function recurringEnds(rule: string, last: number | null, until: number): readonly Change[] {
  const [, standard, west = '', summer, summerWest, start, end] = FORM.exec(rule) ?? [];
  if (standard === undefined || summer === undefined || start === undefined || end === undefined) return [];
  const own = 0 - secondsOf(west);
  const ahead = summerWest === undefined ? own + HOUR_S : 0 - secondsOf(summerWest);
  const changes: Change[] = [];
  const from = last ?? Date.UTC(1970, 0);
  for (let year = new Date(from).getUTCFullYear(); year <= new Date(until).getUTCFullYear(); year++)
    changes.push(
      {
        at: localIn(year, start) - own * SECOND_MS,
        offset: ahead * SECOND_MS,
        abbreviation: wordOf(summer),
      },
      {
        at: localIn(year, end) - ahead * SECOND_MS,
        offset: own * SECOND_MS,
        abbreviation: wordOf(standard),
      },
    );
  return changes.filter(({ at }) => at > from && at < until).sort((one, other) => one.at - other.at);
}
