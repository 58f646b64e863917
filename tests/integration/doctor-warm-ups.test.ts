import { expect, test } from 'bun:test';
import { diagnoseWarmUps } from '../../src/ops/doctor/mail/warm-ups.ts';
import { DAY_MS } from '../../src/platform/time/clock.ts';
import { startRealService } from '../contract/real-service.ts';

// Mail that waits for the room of a day is no fault, but looks like one without the schedule in mind.

test('doctor tells how much of this day each warm-up has left, and warns where nothing is', async () => {
  await using service = await startRealService({
    TRANSPORT: 'capture,smtp',
    SMTP_URL: 'smtp://127.0.0.1:9',
  });
  const { database } = service.service;
  const [{ day } = { day: '' }] = await database.query<{ day: string }>(
    `select (clock_timestamp() at time zone 'UTC')::date::text as day`,
  );
  const told = () => diagnoseWarmUps(database);
  expect(await told()).toMatchObject({
    status: 'fine',
    detail: expect.stringContaining('None is under way'),
  });

  const key = await service.keyWith('live', ['*']);
  const startedAt = `${day}T00:00:00.000Z`;
  const warmUps = [{ provider: 'smtp', startedAt, perDay: [1_500, 1_500, 1_500] }];
  const body = { name: 'sender.example', warmUps };
  const { status, body: made } = await service.ask({ method: 'POST', path: '/v1/domains', key, body });
  expect(status).toBe(201);
  const until = new Date(Date.parse(startedAt) + 3 * DAY_MS).toISOString().slice(0, 10);
  expect(await told()).toMatchObject({
    status: 'fine',
    detail: expect.stringMatching(
      new RegExp(`^sender.example by smtp: 0 of 1,500 recipients on day [12] of 3 .until ${until}..$`),
    ),
  });

  // Both days, since midnight may pass between.
  await database.query(
    `insert into warm_up_days (domain_id, provider, day, claimed, claimed_bulk, granted)
      select $1, 'smtp', $2::date + n, 1500, 0, 0 from generate_series(0, 1) n returning day`,
    [made.data.id, day],
  );
  expect(await told()).toMatchObject({
    status: 'warning',
    detail: expect.stringMatching(/^sender\.example by smtp: 1,500 of 1,500 recipients on day [12] of 3 /),
    advice: expect.stringContaining('midnight UTC'),
  });
});
