import licenses from '../../../THIRD-PARTY-LICENSES.txt' with { type: 'file' };
import type { Terminal } from './terminal.ts';

/** `posthorn licenses` prints the licence of everything that is in the executable. */
export async function printLicenses(terminal: Terminal): Promise<number> {
  terminal.out(await Bun.file(licenses).text());
  return 0;
}
