import { expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { inEachWorld } from '../support/flow-world.ts';

const DAY = 24 * 3_600_000;

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on what is really there.
type Any = any;

inEachWorld('what begins and ends runs', (world) => {
  test('contacts, audiences and imports begin runs; an import only when it is asked to', async () => {
    const { service, ok, aContact, aFlow, runsOf, follow, fresh } = world();
    const { id: audienceId } = ok(await service.live.post('/v1/audiences', { name: fresh() }));
    const { id: target } = ok(await service.live.post('/v1/audiences', { name: fresh() }));
    const steps = [{ key: 'add', type: 'addToAudience', config: { audienceId: target } }];
    const created = await aFlow({
      trigger: { type: 'contactCreated', filter: { field: 'properties.plan', operator: 'eq', value: 'vip' } },
      steps,
    });
    const joined = await aFlow({ trigger: { type: 'audienceJoined', audienceId }, steps });
    const second = await aFlow({
      trigger: { type: 'audienceJoined', audienceId: target },
      steps: [{ key: 'a', type: 'exit' }],
    });
    const vip = await aContact({ properties: { plan: 'vip' } });
    const other = await aContact();
    ok(await service.live.post(`/v1/audiences/${audienceId}/contacts`, { contactIds: [other] }));
    const importing = async (query: string, email: string): Promise<void> => {
      const sent = await fetch(`${service.url}/v1/contacts/import?audienceId=${audienceId}${query}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.keys.live}`, 'content-type': 'text/csv' },
        body: `email,plan\n${email},vip\n`,
      });
      const { data } = (await sent.json()) as Any;
      await eventually(
        'the import',
        async () =>
          ok(await service.live.get(`/v1/contacts/imports/${data.id}`)).status === 'completed' || undefined,
      );
    };
    await importing('', `silent@example.com`);
    await importing('&triggerFlows=true', `loud@example.com`);
    const began = async (flow: string, count: number): Promise<string[]> =>
      eventually(`${count} runs`, async () => {
        await follow();
        const runs = await runsOf(flow);
        return runs.length >= count ? runs.map(({ contactId }: Any) => contactId) : undefined;
      });
    const loud = ok(await service.live.get(`/v1/contacts/loud@example.com`)).id;
    expect((await began(created, 2)).toSorted()).toEqual([vip, loud].toSorted());
    expect((await began(joined, 2)).toSorted()).toEqual([other, loud].toSorted());
    // What a flow does begins others.
    expect((await began(second, 3)).toSorted()).toEqual([vip, other, loud].toSorted());
  });

  test('two requests at once begin one run, and a run leaves as soon as its goal is reached', async () => {
    const { service, ok, aContact, aFlow, runsOf, follow, until } = world();
    const flow = await aFlow({
      exitWhen: { field: 'activity.event:bought', operator: 'exists', value: true },
      steps: [{ key: 'wait', type: 'delay', config: { amount: 9, unit: 'days' } }],
    });
    const contactId = await aContact();
    const start = () => service.live.post(`/v1/flows/${flow}/runs`, { contactId });
    const answers = await Promise.all(Array.from({ length: 5 }, start));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409]);
    const [{ id }] = await runsOf(flow);
    ok(await service.live.post(`/v1/contacts/${contactId}/events`, { name: 'bought' }));
    await follow();
    expect(await until('the goal', id, ({ endedAt }) => endedAt !== null)).toMatchObject({
      ...{ status: 'exited', reason: 'goal' },
    });
    expect((await start()).status).toBe(409);
  });

  test('who has left, and who is over the quota, is passed over and never mailed later', async () => {
    const { service, ok, aContact, aFlow, until, send } = world();
    const flow = await aFlow({ steps: [{ key: 'hello', ...send() }] });
    const gone = await aContact({ status: 'unsubscribed' });
    const begin = async (contactId: string) =>
      until(
        'the end',
        ok(await service.live.post(`/v1/flows/${flow}/runs`, { contactId })).id,
        ({ endedAt }) => endedAt !== null,
      );
    expect((await begin(gone)).log).toMatchObject([{ outcome: 'skipped: unsubscribed', emailId: null }]);
    const { database } = service.service;
    await database.query(`update workspaces set plan = 'free'`);
    await database.query(`update usage set used = 3000 where livemode`);
    await database.query(`insert into usage (workspace_id, livemode, period, used, wanted, granted, quota)
      select id, true, to_char(now() at time zone 'utc', 'YYYY-MM'), 3000, 3000, 3000, 3000 from workspaces on conflict do nothing`);
    const skipped = await begin(await aContact());
    await database.query(`update workspaces set plan = 'growth'`);
    expect(skipped).toMatchObject({
      status: 'completed',
      log: [{ outcome: 'skipped: quota_exceeded', emailId: null }],
    });
  });

  test('a date of the contact begins a run on its day, in the zone of the contact', async () => {
    const { service, aContact, aFlow, runsOf, follow } = world();
    const flow = await aFlow({
      trigger: { type: 'dateProperty', property: 'born', offsetDays: 0, time: '09:00', repeat: 'yearly' },
      steps: [{ key: 'leave', type: 'exit' }],
    });
    const now = service.service.clock.now();
    const day = (ahead: number) => `1990${new Date(now + ahead * DAY).toISOString().slice(4, 10)}`;
    const born = await aContact({ properties: { born: day(1), timeZone: 'Asia/Tokyo' } });
    await aContact({ properties: { born: day(9) } });
    await service.pass(2 * DAY);
    await eventually('the run', async () => {
      await follow();
      return (await runsOf(flow)).length > 0 || undefined;
    });
    await follow();
    expect((await runsOf(flow)).map(({ contactId }: Any) => contactId)).toEqual([born]);
  });
});
