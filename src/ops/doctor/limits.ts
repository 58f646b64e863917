import {
  inForce,
  LIMIT_NAMES,
  type LimitName,
  type LimitRecord,
} from '../../mail/transport/limits/learned.ts';
import type { FoundEntry } from '../../mail/transport/limits/limit-book.ts';
import type { Database } from '../../platform/db/database.ts';
import { type Diagnosis, fine, skipped } from './diagnosis.ts';

const CHECK = 'Limits of servers';
/** Receiving servers that are named; the relays are two at most. */
const NAMED = 5;

const READ = `select transport, server, limits from learned_limits order by transport desc, changed_at desc`;

/** The limit in words, given its value. */
const IN_WORDS: Readonly<Record<LimitName, (value: string) => string>> = {
  connections: (value) => `${value} connections at once`,
  mailsPerSession: (value) => `${value} mails a session`,
  recipientsPerMail: (value) => `${value} recipients a mail`,
  mailsPerMinute: (value) => `${value} mails a minute`,
  octetsPerMail: (value) => `${value} octets a mail`,
};

/**
 * Tells what relays and receiving servers were found to allow. Mail keeps to it, so that it is no fault; it
 * may explain why mail takes its time.
 */
export async function diagnoseLimits(database: Database): Promise<Diagnosis> {
  const [schema] = await database.query<{ there: boolean }>(
    `select to_regclass('learned_limits') is not null as there`,
  );
  const stored = schema?.there ? await database.query<FoundEntry>(READ) : [];
  const found = stored.flatMap(({ server, limits }) => {
    const words = wordsOf(limits);
    return words === '' ? [] : [{ server, words }];
  });
  if (found.length === 0) return skipped(CHECK, 'No server has shown one yet.');
  const named = found.slice(0, NAMED).map(({ server, words }) => `${server} takes ${words}`);
  const more = found.length > NAMED ? `; and ${found.length - NAMED} more` : '';
  return fine(
    CHECK,
    `${named.join('; ')}${more}. Mail keeps to these limits, and tries more from time to time.`,
  );
}

const wordsOf = (record: LimitRecord): string => {
  const limits = inForce(record);
  return LIMIT_NAMES.flatMap((name) => {
    const value = limits[name]?.value;
    return value === undefined ? [] : [IN_WORDS[name](value.toLocaleString('en'))];
  }).join(', ');
};
