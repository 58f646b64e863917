import { existsSync, readFileSync } from 'node:fs';

/** What the performers' own files say of one email. */
export interface Performed {
  /** When the first attempt began (epoch ms). */
  firstBegun: number;
  /** Of each recipient: attempts after which its server had the message. */
  readonly accepted: number[];
}

/** Reads the files that the instances appended to while they performed. */
export function readPerformed(files: readonly string[]): ReadonlyMap<string, Performed> {
  const performed = new Map<string, Performed>();
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
