import { lte } from 'drizzle-orm';
import type { Duty } from '../../../engine/duties/duty.ts';
import type { Database } from '../../../platform/db/database.ts';
import { messageIds } from '../../../platform/db/schema/mail.ts';
import type { Clock } from '../../../platform/time/clock.ts';

/** Deletes the Message-IDs that are free again. */
export const messageIdPruner = ({
  database,
  clock,
}: {
  readonly database: Database;
  readonly clock: Clock;
}): Duty => ({
  name: 'messageIdPruner',
  pattern: '0 47 * * * *',
  goesByAge: true,
  async run() {
    const now = new Date(clock.now());
    await database.read((orm) => orm.delete(messageIds).where(lte(messageIds.until, now)));
  },
});
