import type { Database } from '../../../platform/db/database.ts';
import type { Link } from '../../../platform/db/server/connect.ts';
import { findLink } from '../../../platform/db/server/link.ts';
import { type Diagnosis, fine } from '../diagnosis.ts';

const ANSWER_MS = 5_000;

/** Reports a pooler in front of the database, and what it drops; null without a pooler. */
export async function diagnosePooler(
  database: Database,
  url: string,
  find: (url: string) => Promise<Link> = (each) => findLink(each, ANSWER_MS),
): Promise<Diagnosis | null> {
  if (!(await find(url)).isPooled) return null;
  const [row] = await database.query<{ timeout: string }>(
    `select current_setting('statement_timeout') as timeout`,
  );
  return fine(
    'Pooler',
    'There is one in front of the database; connections carry one statement at a time, instances look for the work of others every second instead of hearing of it, and what a killed one had not begun is taken up within five seconds instead of at once.',
    row?.timeout === '0'
      ? "It drops statement_timeout, so that a statement goes on when no one waits for it any more: set it for the role, with `alter role … set statement_timeout = '6s'`."
      : null,
  );
}
