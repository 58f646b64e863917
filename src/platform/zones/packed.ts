import packed from 'moment-timezone/data/packed/latest.json';
import type { Zone } from './zone.ts';

// The IANA database in the form of the package moment-timezone, which follows each release within days. A
// zone is one text: its name, the abbreviations, their offsets in minutes west of UTC, the index of each
// period's abbreviation, and the ends of the periods in minutes, each counted from the previous one. Numbers
// are written to base 60.

/** The release of the IANA database in this executable. */
export const PACKED_RELEASE: string = packed.version;

const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

/** ICU knows both and the database has let them go; a workspace may have one. */
const FORMER: readonly string[] = [
  'America/Los_Angeles|US/Pacific-New',
  'America/Regina|Canada/East-Saskatchewan',
];

/** The value of a digit: 0 to 9, a to z, A to X. */
function digitOf(code: number): number {
  if (code > 96) return code - 87;
  return code > 64 ? code - 29 : code - 48;
}

/** Milliseconds of a number of minutes to base 60; what follows the point are seconds. */
function millisecondsOf(text: string): number {
  const isNegative = text.startsWith('-');
  const [minutes = '', seconds = ''] = text.slice(isNegative ? 1 : 0).split('.');
  let whole = 0;
  for (let at = 0; at < minutes.length; at++) whole = whole * 60 + digitOf(minutes.charCodeAt(at));
  const rest = seconds === '' ? 0 : digitOf(seconds.charCodeAt(0));
  return (isNegative ? -1 : 1) * (whole * MINUTE_MS + rest * SECOND_MS);
}

function unpack(text: string, name: string): Zone {
  const [, abbreviations = '', offsets = '', periods = '', steps = ''] = text.split('|');
  const words = abbreviations.split(' ');
  const west = offsets.split(' ').map(millisecondsOf);
  const indexes = Array.from(periods, (letter) => digitOf(letter.charCodeAt(0)));
  let end = 0;
  return {
    name,
    ends: steps === '' ? [] : steps.split(' ').map((step) => (end += millisecondsOf(step))),
    offsets: indexes.map((index) => 0 - (west[index] ?? 0)),
    abbreviations: indexes.map((index) => words[index] ?? ''),
  };
}

const beforeBar = (text: string): string => text.slice(0, text.indexOf('|'));

/** The text of each name, those of former times and other spellings among them. */
function textsByName(): ReadonlyMap<string, string> {
  const texts = new Map(packed.zones.map((text) => [beforeBar(text), text]));
  for (const link of [...packed.links, ...FORMER]) {
    const [target = '', name = ''] = link.split('|');
    const text = texts.get(target);
    if (text !== undefined) texts.set(name, text);
  }
  return texts;
}

let texts: ReadonlyMap<string, string> | undefined;

/** The names of all zones in this executable. */
export function packedNames(): readonly string[] {
  texts ??= textsByName();
  return [...texts.keys()];
}

/** A zone of this executable; null where it has none of that name. */
export function packedZone(name: string): Zone | null {
  texts ??= textsByName();
  const text = texts.get(name);
  return text === undefined ? null : unpack(text, name);
}
