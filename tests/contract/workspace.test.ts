import { expect, test } from 'bun:test';
import { setPlan } from '../../src/modules/workspace/commands.ts';
import { startRealService } from './real-service.ts';

test('GET /v1/workspace answers plan, limits and usage alike in both environments', async () => {
  await using service = await startRealService({ TEST_SENDS_PER_DAY: '100' });
  const { database } = service.service;
  const keys = [await service.keyWith('live', ['*']), await service.keyWith('test', ['emails:send'])];
  const [live, inTest] = keys as [string, string];
  const tell = async () => {
    const told = await Promise.all(keys.map((key) => service.ask({ path: '/v1/workspace', key })));
    expect(told.map(({ status }) => status)).toEqual([200, 200]);
    expect(told[0]?.body).toEqual(told[1]?.body);
    return told[0]?.body.data;
  };
  const send = (key: string, from: string) =>
    service.ask({
      method: 'POST',
      path: '/v1/emails',
      key,
      body: { from, to: ['b@example.com', 'c@example.com'], subject: 'Hello', text: 'Hi' },
    });

  const { id, usage, ...first } = await tell();
  expect(first).toEqual({
    name: 'Workspace',
    defaultFrom: null,
    defaultReplyTo: null,
    branding: { logoUrl: null, colour: null, address: null, website: null },
    timeZone: 'UTC',
    plan: 'free',
    limits: { emailsPerMonth: 3_000, domains: 2 },
    createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
  });
  expect(usage).toMatchObject({ emailsSent: 0, testSendsToday: 0, domains: 0 });

  await service.ask({ method: 'POST', path: '/v1/domains', key: live, body: { name: 'shop.test' } });
  expect((await send(live, 'a@shop.test')).status).toBe(202);
  expect((await send(inTest, 'a@anywhere.example')).status).toBe(202);
  expect((await send(inTest, 'nobody')).status).toBe(422);
  // One email is one unit, however many it is for; what was refused took none.
  expect((await tell()).usage).toMatchObject({ emailsSent: 1, testSendsToday: 1, domains: 1 });

  const limits = {
    starter: { emailsPerMonth: 75_000, domains: 5 },
    growth: { emailsPerMonth: 500_000, domains: null },
    unlimited: { emailsPerMonth: null, domains: null },
  };
  for (const plan of ['starter', 'growth', 'unlimited'] as const) {
    await setPlan(database, id, plan);
    expect(await tell()).toMatchObject({
      id,
      plan,
      limits: limits[plan],
      usage: { emailsSent: 1, domains: 1 },
    });
  }

  await database.query(
    `update workspaces set default_from = 'Shop <shop@shop.test>', default_reply_to = 'help@shop.test',
       colour = '#0f766e', time_zone = 'Europe/Vienna' where id = $1`,
    [id],
  );
  expect(await tell()).toMatchObject({
    defaultFrom: 'Shop <shop@shop.test>',
    defaultReplyTo: 'help@shop.test',
    branding: { logoUrl: null, colour: '#0f766e', address: null, website: null },
    timeZone: 'Europe/Vienna',
  });
});
