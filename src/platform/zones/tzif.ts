import { recurringEnds } from './tz-string.ts';
import { STATED_UNTIL, type Zone } from './zone.ts';

// A file of /usr/share/zoneinfo (RFC 9636): a header and a block of 32-bit times for readers of former days,
// then both once more with 64-bit times, and a line with the rule for the years after the last time.

const MAGIC = 0x545a6966; // "TZif"
const HEADER_OCTETS = 44;
const TYPE_OCTETS = 6;
const SECOND_MS = 1_000;

interface Counts {
  readonly version: number;
  readonly isUtc: number;
  readonly isStandard: number;
  readonly leaps: number;
  readonly times: number;
  readonly types: number;
  readonly characters: number;
}

function countsAt(file: DataView, at: number): Counts {
  if (file.getUint32(at) !== MAGIC) throw new RangeError('It is not a TZif file.');
  const count = (index: number): number => file.getUint32(at + 20 + 4 * index);
  return {
    version: file.getUint8(at + 4),
    isUtc: count(0),
    isStandard: count(1),
    leaps: count(2),
    times: count(3),
    types: count(4),
    characters: count(5),
  };
}

const blockOctets = (counts: Counts, timeOctets: number): number =>
  counts.times * (timeOctets + 1) +
  counts.types * TYPE_OCTETS +
  counts.characters +
  counts.leaps * (timeOctets + 4) +
  counts.isStandard +
  counts.isUtc;

/** Reads a zone from a file of version 2 or later. @throws RangeError for another one */
export function readTzif(octets: Uint8Array, name: string): Zone {
  const file = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
  const former = countsAt(file, 0);
  // Files without 64-bit times end in 2037.
  if (former.version === 0) throw new RangeError('It is a TZif file of version 1.');
  const header = HEADER_OCTETS + blockOctets(former, 4);
  const counts = countsAt(file, header);
  const times = header + HEADER_OCTETS;
  const indexes = times + 8 * counts.times;
  const types = indexes + counts.times;
  const words = types + TYPE_OCTETS * counts.types;
  const end = header + HEADER_OCTETS + blockOctets(counts, 8);

  const periods = [0, ...octets.subarray(indexes, indexes + counts.times)];
  const ends = Array.from(
    { length: counts.times },
    (_, index) => Number(file.getBigInt64(times + 8 * index)) * SECOND_MS,
  );
  const offsets = periods.map((type) => file.getInt32(types + TYPE_OCTETS * type) * SECOND_MS);
  const abbreviations = periods.map((type) => {
    const from = words + file.getUint8(types + TYPE_OCTETS * type + 5);
    return latin(octets.subarray(from, octets.indexOf(0, from)));
  });
  const rest = recurringEnds(latin(octets.subarray(end)).trim(), ends.at(-1) ?? null, STATED_UNTIL);
  for (const { at, offset, abbreviation } of rest) {
    ends.push(at);
    offsets.push(offset);
    abbreviations.push(abbreviation);
  }
  return { name, ends, offsets, abbreviations };
}

const latin = (octets: Uint8Array): string => new TextDecoder('latin1').decode(octets);
