import { expect, test } from 'bun:test';
import { activityPruner } from '../../src/audience/contacts/activity/activity-pruner.ts';
import { LONGEST_RETENTION } from '../../src/platform/config/settings/settings.ts';
import { ManualClock, rowsOf } from '../support/engine.ts';
import { onEachStore } from '../support/shared-store.ts';

const NOW = Date.parse('2026-11-22T12:00:00.000Z');

onEachStore('the activity of contacts', (store) => {
  test('loses what emails left in it when these go, and keeps what people did', async () => {
    const row = (id: string, days: number, livemode: boolean, type: string, emailId: string | null) =>
      store.database.query(
        `insert into contact_activity (contact_id, id, livemode, type, at, email_id)
         values ('con_1', $1, $2::boolean, $3, $4::text::timestamptz, $5)`,
        [id, livemode, type, new Date(NOW - days * 86_400_000).toISOString(), emailId],
      );
    await row('old live', 90.1, true, 'opened', 'em_1');
    await row('live', 89.9, true, 'opened', 'em_2');
    await row('old test', 7.1, false, 'delivered', 'em_3');
    await row('test', 6.9, false, 'delivered', 'em_4');
    await row('complaint', 1_000, true, 'complained', 'em_1');
    await row('leaving', 1_000, true, 'unsubscribed', 'em_1');
    await row('consent', 1_000, true, 'subscribed', null);
    await row('test join', 1_000, false, 'joined', null);
    await activityPruner({
      database: store.database,
      clock: new ManualClock(NOW),
      config: LONGEST_RETENTION,
    }).run();
    const left = await rowsOf<{ id: string }>(store.database, 'select id from contact_activity order by id');
    expect(left.map(({ id }) => id)).toEqual([
      'complaint',
      'consent',
      'leaving',
      'live',
      'test',
      'test join',
    ]);
  });
});
