import { expect, test } from 'bun:test';
import { choose, freezeNext } from '../../src/automation/campaigns/sending/audience.ts';
import { manyPeople } from '../support/campaign-people.ts';
import { eventually } from '../support/eventually.ts';
import { startLiveService } from '../support/live-service.ts';

const PEOPLE = 60_000;
const TABLES = ['contacts', 'audience_members'];

// Joined to tables without statistics, each window of 5,000 read all of them for each contact: of 100,000
// none was ever frozen.
test('an audience that was filled a moment before is frozen by reading each of its contacts a few times', async () => {
  await using service = await startLiveService();
  const { database } = service.service;
  const [workspace] = await database.query<{ id: string }>('select id from workspaces');
  const scope = { workspaceId: workspace?.id ?? '', livemode: true };
  for (const table of TABLES) await database.script(`alter table ${table} set (autovacuum_enabled = false)`);
  const read = async (): Promise<number> =>
    (
      await database.query<{ rows: number }>(
        'select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 as rows from pg_stat_user_tables where relname = any($1)',
        [TABLES],
      )
    )[0]?.rows ?? 0;
  const audienceId = await manyPeople(database, scope.workspaceId, PEOPLE);
  const made = await service.live.post('/v1/campaigns', {
    name: 'News',
    audienceId,
    from: 'news@sender.example',
    subject: 'Hello',
    html: '<p>Hi</p>',
  });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  const campaignId = made.body.data.id;
  await database.query(
    `update campaigns set state = 'preparing', attempt = 1, wake_at = null where id = $1`,
    [campaignId],
  );
  const now = Date.now() + 60_000;
  const chosen = await choose(database, scope, { audienceId, excludeAudienceIds: [] }, now);
  if (!chosen) throw new Error('The audience is gone.');
  const before = await read();
  const turn = { campaignId, attempt: 1, startedAt: now };
  for (let place: string | null = ''; place !== null; ) {
    const next = await freezeNext(database, chosen, turn, place);
    if (next === 'lost') throw new Error('The campaign is lost.');
    place = next;
  }
  const [frozen] = await database.query<{ count: number }>(
    'select count(*)::integer as count from campaign_recipients',
  );
  expect(frozen?.count).toBe(PEOPLE);
  const rows = await eventually('they are counted', async () => {
    const more = (await read()) - before;
    return more >= 2 * PEOPLE ? more : undefined;
  });
  expect(rows / PEOPLE).toBeLessThan(10);
});
