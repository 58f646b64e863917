import { PACKED_RELEASE, packedNames, packedZone } from './packed.ts';
import { SYSTEM_FOLDER, systemZones } from './system.ts';
import { type ClockChange, momentIn, offsetIn, periodAt, STATED_UNTIL, type Zone } from './zone.ts';

// The one owner of time zones: flows, analytics, templates and the dashboard go by it. The runtime's own
// table (Intl, Temporal) is as old as the runtime, and the rules of some zone change several times a year.

export type ZoneSource = 'executable' | 'system';

const MINUTE_MS = 60_000;

const UTC: Zone = { name: 'UTC', ends: [], offsets: [0], abbreviations: ['UTC'] };
/**
 * An offset from UTC for the whole year. Clocks differ by whole quarters of an hour, which figures and dates
 * of contacts rely on.
 */
const OFFSET = /^([+-])(0\d|1[0-4])(?::?(00|15|30|45))?$/;
/** On Baker Island and on Kiritimati. */
const [FURTHEST_BEHIND, FURTHEST_AHEAD] = [-12 * 60, 14 * 60];

/** The time zones that the service knows. */
export class Zones {
  /** The release of the IANA database, such as `2026f`. */
  readonly release: string;
  readonly source: ZoneSource;
  /** The release that the system has; null where it does not say. */
  readonly systemRelease: string | null;
  readonly #system: ReturnType<typeof systemZones>;
  /** The zones by their names in lower case. */
  readonly #known = new Map<string, Zone>();
  #spellings: ReadonlyMap<string, string> | undefined;

  /** The newer one of the executable's rules and those of the system. */
  constructor(systemFolder = SYSTEM_FOLDER) {
    const system = systemZones(systemFolder);
    const isNewer = system !== null && system.release > PACKED_RELEASE;
    this.systemRelease = system?.release ?? null;
    this.#system = isNewer ? system : null;
    this.release = isNewer ? system.release : PACKED_RELEASE;
    this.source = isNewer ? 'system' : 'executable';
  }

  /** The names of all zones, those of former times and other spellings among them. */
  get names(): readonly string[] {
    return [...this.#bySpelling().values()].sort();
  }

  /**
   * A zone in its canonical form: the IANA name, from any letter case, or an offset from UTC such as
   * `+02:00`. Null for any other text.
   */
  nameOf(text: string): string | null {
    return this.#zoneOf(text)?.name ?? null;
  }

  /** The offset of a zone from UTC, in milliseconds. */
  offsetAt(at: number, timeZone: string): number {
    return offsetIn(this.#zone(timeZone), at);
  }

  /** The local time of a zone at a moment. */
  localAt(at: number, timeZone: string): Temporal.PlainDateTime {
    const shown = at + this.offsetAt(at, timeZone);
    return Temporal.Instant.fromEpochMilliseconds(shown).toZonedDateTimeISO('UTC').toPlainDateTime();
  }

  /**
   * The moment at which the clocks show a time: an hour later where they leave it out in spring, the first
   * where it comes twice in autumn.
   */
  momentOf(local: Temporal.PlainDateTime, timeZone: string): number {
    return momentIn(this.#zone(timeZone), local.toZonedDateTime('UTC').epochMilliseconds);
  }

  /** The first moment of a day. On a day whose clocks go forward at midnight it is not midnight. */
  startOfDay(day: Temporal.PlainDate, timeZone: string): number {
    return momentIn(this.#zone(timeZone), day.toZonedDateTime('UTC').epochMilliseconds, true);
  }

  /** The changes of the clocks between two moments; the first item describes the beginning. */
  changesOf(timeZone: string, from: number, to: number): readonly ClockChange[] {
    const zone = this.#zone(timeZone);
    const first = periodAt(zone, from);
    const last = periodAt(zone, Math.min(to, STATED_UNTIL));
    return Array.from({ length: last - first + 1 }, (_, index) => {
      const period = first + index;
      return {
        at: index === 0 ? from : (zone.ends[period - 1] ?? from),
        offset: Math.trunc((zone.offsets[period] ?? 0) / MINUTE_MS),
        abbreviation: zone.abbreviations[period] ?? '',
      };
    });
  }

  /** A stored zone is valid. Should the database ever drop it, its runs and figures continue by UTC. */
  #zone(timeZone: string): Zone {
    return this.#zoneOf(timeZone) ?? UTC;
  }

  #zoneOf(text: string): Zone | null {
    const key = text.toLowerCase();
    const known = this.#known.get(key);
    if (known) return known;
    const name = this.#bySpelling().get(key);
    const zone = name === undefined ? fixedZone(text) : (this.#system?.zone(name) ?? packedZone(name));
    // There are six hundred names and a hundred offsets in a few spellings.
    if (zone) this.#known.set(key, zone);
    return zone;
  }

  #bySpelling(): ReadonlyMap<string, string> {
    this.#spellings ??= new Map(
      [...packedNames(), ...(this.#system?.names ?? [])]
        .filter((name) => name !== 'Factory')
        .map((name) => [name.toLowerCase(), name]),
    );
    return this.#spellings;
  }
}

function fixedZone(text: string): Zone | null {
  const [, sign, hours, minutes = '00'] = OFFSET.exec(text) ?? [];
  if (hours === undefined) return null;
  const ahead = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1);
  if (ahead < FURTHEST_BEHIND || ahead > FURTHEST_AHEAD) return null;
  const name = `${ahead === 0 ? '+' : sign}${hours}:${minutes}`;
  return { name, ends: [], offsets: [ahead * MINUTE_MS], abbreviations: [name] };
}

export const zones = new Zones();

/** The error for a text that is no zone. */
export const NO_ZONE =
  'Must be the IANA name of a time zone, such as UTC or Europe/Vienna, or an offset such as +02:00.';
