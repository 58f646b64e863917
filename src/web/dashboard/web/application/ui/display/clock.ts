import type { ClockChange } from '../../../../../../platform/zones/zone.ts';

// The clock that pages show times by: that of the workspace, by the rules that the service goes by. The
// browser's own table may be older, and the computer may be elsewhere. A viewer without a workspace, as in
// the live view of an operator, sees UTC.

/**
 * A time zone, with its clock changes around the displayed years; the first change describes the beginning.
 */
export interface ZoneClock {
  readonly timeZone: string;
  readonly changes: readonly ClockChange[];
}

const UTC: ZoneClock = { timeZone: 'UTC', changes: [{ at: 0, offset: 0, abbreviation: 'UTC' }] };
let shown = UTC;

/** Shows times by this clock from now on. */
export const setClock = (clock: ZoneClock): void => {
  shown = clock;
};

/** The IANA name of the zone that times are shown in. */
export const shownZone = (): string => shown.timeZone;

const MINUTE_MS = 60_000;

const changeAt = (at: number): ClockChange =>
  shown.changes.findLast((change) => change.at <= at) ?? shown.changes[0] ?? (UTC.changes[0] as ClockChange);

/** The wall-clock time at a moment, as the members of UTC. */
export const shownAt = (at: number): Date => new Date(at + changeAt(at).offset * MINUTE_MS);

/** `CET`, or `UTC+3` for a zone without an abbreviation. */
export function zoneLabel(at: number): string {
  const { abbreviation } = changeAt(at);
  return /^[+-]/.test(abbreviation)
    ? `UTC${abbreviation.replace(/^([+-])0?/, '$1').replace(/^([+-]\d+?)(\d\d)$/, '$1:$2')}`
    : abbreviation;
}

/** `2026-11-22T09:00` of an instant, as a field for local times takes it. */
export const localText = (at: string): string => shownAt(Date.parse(at)).toISOString().slice(0, 16);

/**
 * The instant of a local time; undefined for none. For an ambiguous time the first instant, for a skipped
 * time one later by the gap, as the service does.
 */
export function instantOf(text = ''): string | undefined {
  const local = text === '' ? Number.NaN : Date.parse(`${text}Z`);
  if (Number.isNaN(local)) return undefined;
  const { changes } = shown;
  const period = changes.findIndex(({ offset }, index) => {
    const next = changes[index + 1];
    return next === undefined || local < next.at + Math.max(offset, next.offset) * MINUTE_MS;
  });
  const offset = changes[period]?.offset ?? 0;
  return new Date(local - offset * MINUTE_MS).toISOString();
}

/** The time zone of this computer, the default of a new workspace. Its rules are the service's. */
export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
