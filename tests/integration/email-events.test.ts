import { expect, test } from 'bun:test';
import { emailEvents } from '../../src/sending/emails/queries.ts';
import { emailSpawn, engineOver, LIVE, plainInput, postgresStore } from '../support/engine.ts';
import { EDITABLE_VIEWS } from '../support/stored-email.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');

test('an email with too many events leaves out the oldest opens and clicks, never its delivery events', async () => {
  await using store = await postgresStore();
  const { database } = store;
  const birth = emailSpawn(plainInput(NOW, { livemode: true }));
  await engineOver(database).spawn('email', birth);
  await database.script(EDITABLE_VIEWS);
  const write = (type: string, from: number, count: number) =>
    database.query(
      `insert into email_events (email_id, id, workspace_id, livemode, type, recipient, occurred_at, data)
       select $1, $2 || lpad(n::text, 6, '0'), $3, true, $4, 'r0@example.com',
         timestamptz '2026-11-20T12:00:00Z' + ($5::integer + n) * interval '1 minute', '{}'
       from generate_series(1, $6::integer) n`,
      [birth.id, `ev_${type}`, LIVE.workspaceId, type, from, count],
    );
  await write('sent', 0, 1);
  await write('opened', 10, 700);
  await write('clicked', 10, 700);
  await write('complained', 800, 1);
  const caller = {
    workspaceId: LIVE.workspaceId,
    livemode: true,
    kind: 'key',
    id: 'key_1',
    permissions: ['*'],
  };
  const events = await emailEvents({ database, bodies: null, textFromHtml: String }, {
    caller,
    params: { id: birth.id },
  } as never);
  if (!Array.isArray(events)) throw new Error('no list');
  const types = events.map(({ type }) => type);
  expect([types.length, types[0], types.at(-1)]).toEqual([1_000, 'sent', 'complained']);
  // The newest of either kind: from minute 212 on there are 499 of each.
  expect(events[1]?.occurredAt).toBe('2026-11-20T15:32:00.000Z');
  const times = events.map(({ occurredAt }) => occurredAt);
  expect(times).toEqual(times.toSorted());
});
