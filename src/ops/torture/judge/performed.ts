import { existsSync, readFileSync } from 'node:fs';

/** The attempts of one email, according to the performers' own files. */
export interface PerformedAttempts {
  /** Begin of the first attempt (epoch ms). */
  firstBegun: number;
  /** Attempts after which the server had accepted the message, by the recipient's index. */
  readonly accepted: number[];
}

/** Reads the files that the instances appended to while they performed. */
export function readPerformed(files: readonly string[]): ReadonlyMap<string, PerformedAttempts> {
  const performed = new Map<string, PerformedAttempts>();
  for (const file of files) {
    if (!existsSync(file)) continue;
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      const [what, id = '', , last = ''] = line.split(' ');
      const known = performed.get(id) ?? { firstBegun: Number.POSITIVE_INFINITY, accepted: [] };
      if (what === 'begun') known.firstBegun = Math.min(known.firstBegun, Number(last));
      else if (what === 'done')
        for (const recipient of last
          .split(',')
          .filter((one) => one !== '')
          .map(Number))
          known.accepted[recipient] = (known.accepted[recipient] ?? 0) + 1;
      else continue;
      performed.set(id, known);
    }
  }
  return performed;
}
