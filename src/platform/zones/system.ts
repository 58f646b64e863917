import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTzif } from './tzif.ts';
import type { Zone } from './zone.ts';

/** The folder in which systems keep their time zones. */
export const SYSTEM_FOLDER = '/usr/share/zoneinfo';

/** The time zone database of the system. */
export interface SystemZones {
  readonly release: string;
  readonly names: readonly string[];
  /** Null where the file cannot be read. */
  zone(name: string): Zone | null;
}

/** Only what a release could be called is one: some systems write their own words there. */
const RELEASE = /^# version (\d{4}[a-z]{1,2})$/m;
/** A zone, and another name of one: `Z Europe/Vienna …` and `L Europe/Vienna Austria`. */
const NAMES = /^(?:Z|L [^\s]+) ([A-Za-z][A-Za-z0-9_+/-]*)/gm;

/** Reads which release a system has; null where it has none, or does not say which. */
export function systemZones(folder: string): SystemZones | null {
  const octets = read(join(folder, 'tzdata.zi'));
  const source = octets && new TextDecoder('latin1').decode(octets);
  const release = source && RELEASE.exec(source)?.[1];
  if (!release) return null;
  const names = new Set([...source.matchAll(NAMES)].map(([, name = '']) => name));
  return {
    release,
    names: [...names],
    zone(name) {
      const octets = names.has(name) ? read(join(folder, name)) : null;
      try {
        return octets && readTzif(octets, name);
      } catch {
        return null;
      }
    },
  };
}

function read(path: string): Uint8Array | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}
