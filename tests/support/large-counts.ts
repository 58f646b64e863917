import pino from 'pino';
import type { Kind } from '../../src/engine/machine/kind.ts';
import type { Scope } from '../../src/engine/machine/result.ts';
import type { Database } from '../../src/platform/db/database.ts';
import type { Counts } from '../../src/web/live/model.ts';
import { StateCounts } from '../../src/web/live/state-counts.ts';
import { ManualClock, TEST } from './engine.ts';

/** Pages of a table that no count reads as a whole. */
const MANY_PAGES = 10_000_000;

/**
 * The live view's counts of a kind, in an environment, as if its table were too large to be counted whole.
 */
export async function countsOfLarge(
  database: Database,
  kind: Kind,
  scope: Scope = TEST,
): Promise<Counts[string] | undefined> {
  const query: Database['query'] = async (text, ...rest) =>
    text.includes('pg_partition_tree')
      ? ([{ pages: MANY_PAGES }] as never)
      : await database.query(text, ...rest);
  const large = { kind: database.kind, read: database.read.bind(database), query } as Database;
  const counts = new StateCounts(large, new ManualClock(0), pino({ level: 'silent' }), [kind]);
  await counts.start();
  counts.stop();
  return counts.counts(scope, new Set([kind.name]))[kind.name];
}
